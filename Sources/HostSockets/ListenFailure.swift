/// Why a server does not listen where it was told to.
public struct ListenFailure: Error, CustomStringConvertible {
  public let address: String
  public let reason: String

  public init(address: String, reason: String) {
    self.address = address
    self.reason = reason
  }

  /// Of a server that the system does not let listen at a path.
  public init(path: String, _ error: any Error) {
    self.init(address: path, reason: "\(error); choose another path")
  }

  public init(host: String, port: Int, _ error: any Error) {
    self.init(address: "\(host):\(port)", reason: "\(error); choose another address, or stop what listens there")
  }

  /// Of a socket that the server was passed.
  public init(descriptor: Int32, _ error: any Error) {
    self.init(address: "descriptor \(descriptor)", reason: "\(error); pass a socket that nobody else serves")
  }

  public var description: String { "cannot listen on \(address): \(reason)" }
}

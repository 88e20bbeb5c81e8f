/// Why a server does not listen where it was told to.
public struct ListenFailure: Error, CustomStringConvertible {
  public let address: String
  public let reason: String

  public init(address: String, reason: String) {
    self.address = address
    self.reason = reason
  }

  public var description: String { "cannot listen on \(address): \(reason)" }
}

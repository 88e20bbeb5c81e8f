import Glibc

/// How a mirror is admitted to the other store: paths of files, which are read at each new connection.
public struct MirrorAccess: Sendable, Equatable {
  /// Certificates of the authorities by which the other side is judged; nil: the system's.
  public var authorities: String?
  /// This side's certificate, and its key.
  public var certificate: String?
  public var key: String?
  public var user: String?
  public var passwordFile: String?

  public init() {}

  /// - Throws: `away` if the password's file cannot be read.
  public func passwordIfAny() throws(MirrorFailure) -> (user: String, password: String)? {
    guard let user, let passwordFile else { return nil }
    var text = try Self.contents(passwordFile)
    while let last = text.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { text.removeLast() }
    return (user, String(decoding: text, as: UTF8.self))
  }

  private static let largestFile = 1 << 20

  /// - Throws: `away` if there is no such file, or it is too large to be one of these.
  public static func contents(_ path: String) throws(MirrorFailure) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .away("\(path): cannot be read (error \(errno))") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0, bytes.count + count <= largestFile else {
        throw .away("\(path): cannot be read, or is too large")
      }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }
}

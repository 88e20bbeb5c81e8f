import SharedMemory

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

  /// - Throws: `away` if there is no such file, or it is too large to be one of these: it may be right at the next try.
  public static func contents(_ path: String) throws(MirrorFailure) -> [UInt8] {
    do throws(SystemError) { return try HostFile.bytes(path, atMost: largestFile) } catch {
      throw .away("\(path): cannot be read (\(error))")
    }
  }
}

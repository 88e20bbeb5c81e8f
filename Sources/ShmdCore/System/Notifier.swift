import Glibc

/// Tells the service manager how things stand: the datagrams of sd_notify(3), sent without libsystemd.
///
/// Nobody listening, or a full queue, is no error: a daemon works the same without a manager.
public struct Notifier: Sendable {
  private let address: [UInt8]?

  /// - Parameter socket: the value of `NOTIFY_SOCKET`: a path, or `@` and an abstract name; nil for no manager.
  public init(socket: String?) {
    guard let socket, socket.hasPrefix("/") || socket.hasPrefix("@") else {
      address = nil
      return
    }
    var bytes = Array(socket.utf8)
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    address = bytes.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) ? bytes : nil
  }

  /// Whether a service manager started this process and listens to it.
  public var hasManager: Bool { address != nil }

  /// Sends assignments, one a line. Never blocks.
  /// - Returns: whether the manager has it.
  @discardableResult
  public func send(_ assignments: String...) -> Bool {
    guard let address else { return false }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let message = Array(assignments.joined(separator: "\n").utf8)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { path in unsafe path.copyBytes(from: address) }
    // An abstract name is as long as it is given, and a path ends with it too: no trailing zero counts.
    let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + address.count)
    let sent = unsafe withUnsafePointer(to: name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), pointer, length)
      }
    }
    return sent == message.count
  }
}

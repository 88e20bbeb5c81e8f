import Glibc

/// A socket that somebody else has bound, for a server of this host alone.
public enum BoundSocket {
  public enum Kind: Sendable, Equatable {
    case unix
    /// On loopback.
    case tcp
  }

  /// The path to which a Unix socket is bound; nil if that is none.
  public static func path(of descriptor: Int32) -> String? {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let failed = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
    }
    guard failed == 0, Int32(address.sun_family) == AF_UNIX else { return nil }
    let path = unsafe withUnsafeBytes(of: address.sun_path) { unsafe Array($0.prefix { $0 != 0 }) }
    return path.isEmpty ? nil : String(decoding: path, as: UTF8.self)
  }

  /// What it is bound to.
  /// - Throws: if it is none that a server of this host alone listens on.
  public static func kind(of descriptor: Int32) throws(ListenFailure) -> Kind {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let failed = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &length) }
    }
    guard failed == 0 else {
      throw ListenFailure(address: "descriptor \(descriptor)", reason: "it is no socket, error \(errno)")
    }
    let isLoopback: Bool
    switch Int32(address.ss_family) {
    case AF_UNIX: return .unix
    case AF_INET:
      isLoopback = unsafe withUnsafeBytes(of: address) {
        unsafe $0.load(as: sockaddr_in.self).sin_addr.s_addr & 0xFF == 127
      }
    case AF_INET6:
      isLoopback = unsafe withUnsafeBytes(of: address) { bytes in
        let host = unsafe bytes.load(as: sockaddr_in6.self).sin6_addr
        return unsafe withUnsafeBytes(of: host) { unsafe $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
      }
    default: isLoopback = false
    }
    guard isLoopback else {
      throw ListenFailure(
        address: "descriptor \(descriptor)",
        reason: "it is bound to more than this host; write ListenStream=127.0.0.1:PORT in its socket unit")
    }
    return .tcp
  }
}

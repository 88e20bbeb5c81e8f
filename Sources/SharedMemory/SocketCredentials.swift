import Glibc

/// The process, user and group at the other end of a Unix socket, as the kernel wrote them down at connect(2), or at listen(2) for who
/// connected (unix(7), SO_PEERCRED).
public struct SocketCredentials: Sendable, Equatable {
  /// 0 if it is in another PID namespace.
  public let process: Int32
  public let user: UInt32
  public let group: UInt32

  /// - Returns: nil if the kernel does not tell.
  public init?(descriptor: Int32) {
    // The kernel's struct ucred, which is not imported: pid, uid, gid.
    var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
    var length = socklen_t(12)
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, length == 12 else {
      return nil
    }
    (process, user, group) = credentials
  }
}

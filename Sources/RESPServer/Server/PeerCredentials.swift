import Glibc

/// Who is at the other end of a Unix socket, as the kernel wrote it down at connect(2).
struct PeerCredentials: Sendable, Equatable {
  let process: Int32
  let user: UInt32
  let group: UInt32

  /// - Returns: nil for a socket of another family.
  init?(descriptor: Int32) {
    // The kernel's struct ucred, which is not imported: pid, uid, gid.
    var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
    var length = socklen_t(12)
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, length == 12,
      credentials.0 > 0
    else { return nil }
    (process, user, group) = credentials
  }
}

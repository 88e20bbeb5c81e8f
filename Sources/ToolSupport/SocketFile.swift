import Glibc

/// Unix sockets that a server makes at a path.
public enum SocketFile {
  /// Makes a socket at `path`, bound and not yet listening.
  ///
  /// A socket that a killed server left behind is replaced; one on which somebody listens, or something that is no socket,
  /// is left alone.
  /// - Parameter mode: who may connect. Nobody may before the mode is set: the socket is made for its owner alone, by a mode of
  ///   the descriptor, since a change of the process' umask would hold for the files of all its threads.
  /// - Returns: a descriptor that is the caller's to close.
  public static func bind(_ path: String, mode: UInt32) throws(ListenFailure) -> Int32 {
    guard path.utf8.count < 108 else {
      throw ListenFailure(address: path, reason: "a socket's path has at most 107 bytes; choose a shorter one")
    }
    try removeStale(path)
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw ListenFailure(address: path, reason: reason(errno)) }
    guard fchmod(descriptor, 0o600) == 0, unsafe withAddress(path, { unsafe Glibc.bind(descriptor, $0, $1) }) == 0,
      unsafe chmod(path, mode) == 0
    else {
      let error = errno
      close(descriptor)
      throw ListenFailure(address: path, reason: reason(error))
    }
    return descriptor
  }

  public static func remove(_ path: String) { unsafe unlink(path) }

  private static func removeStale(_ path: String) throws(ListenFailure) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw ListenFailure(
        address: path, reason: "there is something else than a socket; remove it or choose another path")
    }
    if isListenedTo(path) {
      throw ListenFailure(address: path, reason: "another process listens there; stop it or choose another path")
    }
    unsafe unlink(path)
  }

  /// Whether somebody accepts connections at this path.
  private static func isListenedTo(_ path: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    // A full backlog is somebody's too.
    return unsafe withAddress(path) { unsafe connect(descriptor, $0, $1) } == 0 || errno == EAGAIN
  }

  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8).prefix(107)) }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func reason(_ error: Int32) -> String {
    switch error {
    case ENOENT: "its directory is not there; make it, or choose another path"
    case EACCES, EPERM: "this user may not make it there; choose another path, or change the directory's rights"
    default: "error \(error)"
    }
  }
}

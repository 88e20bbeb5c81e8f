import Glibc
import SharedMemory

/// A Unix socket that a server has made at a path.
public struct SocketFile: Sendable {
  public let path: String
  /// The caller's to close.
  public let descriptor: Int32
  /// The file's that the path named when it was made, which stays as long as the descriptor is open.
  private let (device, inode): (dev_t, ino_t)

  /// Makes a socket at `path`, bound and not yet listening.
  ///
  /// A socket that a killed server left behind is replaced. One on which somebody listens, or of which it cannot be told, and
  /// something that is no socket are left alone.
  /// - Parameter mode: who may connect. Nobody may before the mode is set: the socket is made for its owner alone, by a mode of
  ///   the descriptor, since a change of the process' umask would hold for the files of all its threads.
  public static func bind(_ path: String, mode: UInt32) throws(ListenFailure) -> SocketFile {
    guard path.utf8.count <= LocalSocket.maximumPathLength else {
      throw ListenFailure(
        address: path,
        reason: "a socket's path has at most \(LocalSocket.maximumPathLength) bytes; choose a shorter one")
    }
    try removeStale(path)
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw ListenFailure(address: path, reason: reason(errno)) }
    guard fchmod(descriptor, 0o600) == 0, unsafe withAddress(path, { unsafe Glibc.bind(descriptor, $0, $1) }) == 0
    else {
      let error = errno
      close(descriptor)
      throw ListenFailure(address: path, reason: reason(error))
    }
    var status = stat()
    guard unsafe chmod(path, mode) == 0, unsafe lstat(path, &status) == 0 else {
      let error = errno
      unsafe unlink(path)
      close(descriptor)
      throw ListenFailure(address: path, reason: reason(error))
    }
    return SocketFile(path: path, descriptor: descriptor, device: status.st_dev, inode: status.st_ino)
  }

  private init(path: String, descriptor: Int32, device: dev_t, inode: ino_t) {
    self.path = path
    self.descriptor = descriptor
    (self.device, self.inode) = (device, inode)
  }

  /// Removes the socket from its path, unless another process has put something else there. The server calls it before it closes the
  /// descriptor: afterwards the system may give the file's number to another file, which would be removed.
  public func remove() {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
    unsafe unlink(path)
  }

  private static func removeStale(_ path: String) throws(ListenFailure) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw ListenFailure(
        address: path, reason: "there is something else than a socket; remove it or choose another path")
    }
    switch try connection(to: path) {
    case ECONNREFUSED, ENOENT: break
    // A full backlog is somebody's too.
    case 0, EAGAIN:
      throw ListenFailure(address: path, reason: "another process listens there; stop it or choose another path")
    case let error:
      throw ListenFailure(
        address: path, reason: "the socket there is somebody's (\(text(error))); remove it, or choose another path")
    }
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw ListenFailure(address: path, reason: reason(errno)) }
  }

  /// What an attempt to connect came to: an error number, or 0. Only a refusal says that nobody listens.
  private static func connection(to path: String) throws(ListenFailure) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw ListenFailure(address: path, reason: reason(errno)) }
    defer { close(descriptor) }
    return unsafe withAddress(path) { unsafe connect(descriptor, $0, $1) } == 0 ? 0 : errno
  }

  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8).prefix(LocalSocket.maximumPathLength)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
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
    case EMFILE, ENFILE: "\(text(error)); raise the limit of open files"
    default: text(error)
    }
  }

  private static func text(_ error: Int32) -> String { unsafe "\(String(cString: strerror(error))), error \(error)" }
}

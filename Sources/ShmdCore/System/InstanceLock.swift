import Glibc
import SharedMemory

/// What keeps a second daemon away: an flock on a file in the runtime directory, held for life.
///
/// The lock ends with the process, however it ends, so a file that a killed daemon left behind stops nobody. The file
/// itself stays: removing it would let two daemons lock two files of one name. Its text is the holder's pid, for
/// people.
public final class InstanceLock: Sendable {
  /// Why there is no lock.
  enum Failure: Error {
    /// By whom it is held, if the file says so.
    case held(pid: Int32?)
    case system(SystemError)
  }

  private let descriptor: Int32

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Takes the lock, or fails at once. Makes the file, and its directory if only that is missing.
  static func take(directory: String) throws(Failure) -> InstanceLock {
    _ = unsafe mkdir(directory, 0o755)
    let descriptor = unsafe open(path(in: directory), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw .system(SystemError(call: "open", errno: errno)) }
    let lock = InstanceLock(descriptor)
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      if errno == EWOULDBLOCK { throw .held(pid: lock.writtenPid) }
      throw .system(SystemError(call: "flock", errno: errno))
    }
    ftruncate(descriptor, 0)
    HostFile.write(Array("\(getpid())\n".utf8), to: descriptor)
    return lock
  }

  static func path(in directory: String) -> String { directory + "/shmd.lock" }

  /// Says that nobody holds the lock any more, and lets go.
  func release() {
    ftruncate(descriptor, 0)
    flock(descriptor, LOCK_UN)
  }

  private var writtenPid: Int32? {
    var buffer = [UInt8](repeating: 0, count: 32)
    let count = unsafe pread(descriptor, &buffer, buffer.count, 0)
    return Int32(String(decoding: buffer[..<max(0, count)].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }
}

import Glibc
import SharedMemory

/// What keeps a second daemon away: an flock on a file in the runtime directory, held for life.
///
/// The lock ends with the process, however it ends, so a file that a killed daemon left behind stops nobody. The file
/// itself stays: removing it would let two daemons lock two files of one name. Its text is the holder's pid, and how many reloads it
/// has ended and begun, for people and for `--reload`. Only its owner may open it: any user who could open it could lock it, and so
/// keep the daemon from starting.
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

  /// What the file says.
  struct State: Equatable {
    let pid: Int32
    let reloads: Reloads
  }

  /// How many times the daemon has read its configuration anew.
  struct Reloads: Equatable {
    /// One more than `ended` while a reload is under way.
    var begun = 0
    var ended = 0
    /// The configuration of the last that ended is not in force.
    var isRefused = false
  }

  /// Takes the lock, or fails at once. Makes the file, and its directory if only that is missing.
  static func take(directory: String) throws(Failure) -> InstanceLock {
    _ = unsafe mkdir(directory, 0o755)
    let descriptor = unsafe open(path(in: directory), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system(SystemError(call: "open", errno: errno)) }
    let lock = InstanceLock(descriptor)
    // Earlier releases left it to the umask. Of another user's file the system refuses this; that user could lock it in any case.
    fchmod(descriptor, 0o600)
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      if errno == EWOULDBLOCK { throw .held(pid: lock.written?.pid) }
      throw .system(SystemError(call: "flock", errno: errno))
    }
    lock.write(Reloads())
    return lock
  }

  /// What the file in a directory says, whether its writer lives or not; nil if there is none, or none that can be opened.
  /// - Throws: EACCES if the calling user is neither the file's owner nor root.
  static func state(in directory: String) throws(SystemError) -> State? {
    let descriptor = unsafe open(path(in: directory), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      guard errno == EACCES else { return nil }
      throw SystemError(call: "open", errno: errno)
    }
    return InstanceLock(descriptor).written
  }

  /// Tells each `shmd --reload` that waits how far the daemon's reload is. In one write of constant length, so that none reads half of it.
  func write(_ reloads: Reloads) {
    let text = "\(getpid()) \(reloads.ended) \(reloads.isRefused ? "refused" : "in force") \(reloads.begun)"
    let line = Array((text + String(repeating: " ", count: max(0, 47 - text.utf8.count)) + "\n").utf8)
    _ = unsafe pwrite(descriptor, line, line.count, 0)
    ftruncate(descriptor, off_t(line.count))
  }

  static func path(in directory: String) -> String { directory + "/shmd.lock" }

  /// Says that nobody holds the lock any more, and lets go.
  func release() {
    ftruncate(descriptor, 0)
    flock(descriptor, LOCK_UN)
  }

  private var written: State? {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = unsafe pread(descriptor, &buffer, buffer.count, 0)
    return Self.state(written: String(decoding: buffer[..<max(0, count)], as: UTF8.self))
  }

  /// What a text of the file says. One of an earlier release does not tell how many reloads have begun.
  static func state(written text: String) -> State? {
    let words = text.split { $0 == " " || $0 == "\n" }
    guard words.count > 2, let pid = Int32(words[0]), let ended = Int(words[1]) else { return nil }
    let begun = words.last.flatMap { Int($0) } ?? ended
    return State(pid: pid, reloads: Reloads(begun: begun, ended: ended, isRefused: words[2] == "refused"))
  }
}

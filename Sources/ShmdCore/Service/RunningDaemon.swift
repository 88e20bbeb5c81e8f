import Glibc
import SharedMemory

/// The daemon that holds the lock of a runtime directory, as `--reload` speaks to it: by SIGHUP, and by the lock file, in which
/// the daemon counts its reloads.
struct RunningDaemon {
  /// What a reload came to.
  enum Outcome {
    case accepted
    case refused
    /// It has ended, or takes longer than anybody waits.
    case unknown
  }

  private static let patienceNanoseconds: UInt64 = 30_000_000_000

  let directory: String
  let pid: Int32
  private let reloads: Int

  /// Nil if none runs. An ended daemon may have left the file, and another process may have its number: what has it must be
  /// called what the daemon is called. (Who tried the lock instead would keep a daemon away that starts just then.)
  init?(directory: String) {
    guard let state = InstanceLock.state(in: directory), HostProcess.name(of: state.pid) == "shmd" else { return nil }
    self.directory = directory
    pid = state.pid
    reloads = state.reloads
  }

  /// Has it read its configuration, and waits until it has.
  func reload() throws(SystemError) -> Outcome {
    guard kill(pid, SIGHUP) == 0 else { throw SystemError(call: "kill", errno: errno) }
    let end = HostClock.monotonicNanoseconds + Self.patienceNanoseconds
    while HostClock.monotonicNanoseconds < end {
      guard let state = InstanceLock.state(in: directory), state.pid == pid else { return .unknown }
      if state.reloads != reloads { return state.isRefused ? .refused : .accepted }
      usleep(5000)
    }
    return .unknown
  }
}

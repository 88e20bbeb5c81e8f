import Glibc
import SharedMemory

/// The daemon that holds the lock of a runtime directory, as `--reload` speaks to it: by SIGHUP, and by the lock file, in which
/// the daemon counts the reloads that it has begun and ended.
struct RunningDaemon {
  /// What a reload came to.
  enum Outcome: Equatable {
    case accepted
    case refused
    /// The daemon has ended.
    case ended
    /// It has not begun in time: the daemon still starts, or hangs.
    case notBegun
    /// It takes longer than systemd waits.
    case unfinished

    /// What the file's user is told; nil: the file is in force.
    func complaint(_ pid: Int32) -> String? {
      switch self {
      case .accepted: nil
      case .refused: "refused by the daemon (pid \(pid)); its log says why"
      case .ended: "not in force: the daemon (pid \(pid)) ended, and is not known to have read it; its log says why"
      case .notBegun:
        "not in force yet: the daemon (pid \(pid)) was told, and has not begun to reload; while it starts, its tables come back from their stores first, "
          + "and it reloads when it is ready; see 'systemctl status shmd' and its log"
      case .unfinished:
        "not known to be in force: the daemon (pid \(pid)) has not ended its reload, in which it makes tables that are missing; see its log"
      }
    }
  }

  /// For how long a reload is waited for that has not begun.
  private static let patienceNanoseconds: UInt64 = 30_000_000_000
  /// For how long one may take, as the unit's `TimeoutStartSec` has it: a durable table comes back in it.
  private static let longestReloadNanoseconds: UInt64 = 15 * 60 * 1_000_000_000

  let directory: String
  let pid: Int32
  /// What the file said before the daemon was told.
  private let before: InstanceLock.State

  /// Nil if none runs. An ended daemon may have left the file, and another process may have its number: what has it must be
  /// called what the daemon is called. (Who tried the lock instead would keep a daemon away that starts just then.)
  init?(directory: String) throws(SystemError) {
    guard let state = try InstanceLock.state(in: directory), HostProcess.name(of: state.pid) == "shmd" else {
      return nil
    }
    self.directory = directory
    pid = state.pid
    before = state
  }

  /// Has it read its configuration, and waits until it has.
  /// - Parameter patience: for how long, in nanoseconds, if the reload does not begin.
  func reload(patience toBegin: UInt64 = patienceNanoseconds) throws(SystemError) -> Outcome {
    guard kill(pid, SIGHUP) == 0 else { throw SystemError(call: "kill", errno: errno) }
    var (start, seen) = (HostClock.monotonicNanoseconds, before.reloads)
    while true {
      let state = try InstanceLock.state(in: directory)
      if let reloads = state?.reloads, reloads != seen { (start, seen) = (HostClock.monotonicNanoseconds, reloads) }
      if let outcome = Self.outcome(state, before: before) { return outcome }
      // It may have written the outcome after the look above.
      guard HostProcess.name(of: pid) == "shmd" else {
        return Self.outcome(try InstanceLock.state(in: directory), before: before) ?? .ended
      }
      // Ours, or one behind which ours will begin.
      let isUnderWay = seen.begun > seen.ended
      let patience = isUnderWay ? Self.longestReloadNanoseconds : toBegin
      if HostClock.monotonicNanoseconds &- start >= patience { return isUnderWay ? .unfinished : .notBegun }
      usleep(5000)
    }
  }

  /// What the first reload came to that began after the file said `before`; nil: it has not ended. One that had begun by then may have
  /// read the configuration as it was before.
  static func outcome(_ now: InstanceLock.State?, before: InstanceLock.State) -> Outcome? {
    guard let now, now.pid == before.pid else { return .ended }
    guard now.reloads.ended > before.reloads.begun else { return nil }
    return now.reloads.isRefused ? .refused : .accepted
  }
}

import CShims
import Glibc

/// File locks. They belong to the open file description and end with it, however its processes end.
extension SharedObject {
  public enum LockKind: Sendable {
    case shared, exclusive
  }

  /// Tries once: false when another open file description stands in the way. Converting a lock is not atomic.
  public func tryLock(_ kind: LockKind) throws(SystemError) -> Bool {
    let r = shmos_try_flock(descriptor, kind == .exclusive)
    if r == -EWOULDBLOCK { return false }
    try check("flock", r)
    return true
  }

  /// Waits for the lock; false when the time is over.
  ///
  /// It asks again and again, 1 ms apart at first and 16 ms later, because `flock` itself waits without limit: for a
  /// stopped holder for ever. It is meant for creating and opening, not for a hot path.
  public func lock(_ kind: LockKind, timeoutNanoseconds: UInt64) throws(SystemError) -> Bool {
    let start = HostClock.monotonicNanoseconds
    var pause: UInt64 = 1_000_000
    while true {
      if try tryLock(kind) { return true }
      let waited = HostClock.monotonicNanoseconds &- start
      if waited >= timeoutNanoseconds { return false }
      shmos_sleep(min(pause, timeoutNanoseconds - waited))
      pause = min(pause * 2, 16_000_000)
    }
  }

  public func unlock() throws(SystemError) { try check("flock", shmos_funlock(descriptor)) }
}

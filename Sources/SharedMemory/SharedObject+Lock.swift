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
  public func lock(_ kind: LockKind, timeoutNanoseconds: UInt64) throws(SystemError) -> Bool {
    try wait(timeoutNanoseconds) { () throws(SystemError) in try tryLock(kind) }
  }

  public func unlock() throws(SystemError) { try check("flock", shmos_funlock(descriptor)) }

  /// Tries once to get the second lock that an object has, which knows nothing of the first: false when another open file
  /// description stands in the way. It is given back by ``unlockMemory()``, or with the last descriptor of this description.
  ///
  /// Who may only read gets the shared one alone: so strangers cannot keep each other out.
  public func tryLockMemory(_ kind: LockKind) throws(SystemError) -> Bool {
    let r = shmos_try_ofd_lock(descriptor, kind == .exclusive)
    if r == -EAGAIN { return false }
    try check("fcntl", r)
    return true
  }

  /// Waits for the second lock; false when the time is over.
  public func lockMemory(_ kind: LockKind, timeoutNanoseconds: UInt64) throws(SystemError) -> Bool {
    try wait(timeoutNanoseconds) { () throws(SystemError) in try tryLockMemory(kind) }
  }

  public func unlockMemory() throws(SystemError) { try check("fcntl", shmos_ofd_unlock(descriptor)) }

  /// Asks again and again, 1 ms apart at first and 16 ms later, because the system calls themselves wait without limit: for a
  /// stopped holder for ever. It is meant for creating and opening, not for a hot path.
  private func wait(
    _ timeoutNanoseconds: UInt64, _ isLocked: () throws(SystemError) -> Bool
  ) throws(SystemError) -> Bool {
    let start = HostClock.monotonicNanoseconds
    var pause: UInt64 = 1_000_000
    while true {
      if try isLocked() { return true }
      let waited = HostClock.monotonicNanoseconds &- start
      if waited >= timeoutNanoseconds { return false }
      shmos_sleep(min(pause, timeoutNanoseconds - waited))
      pause = min(pause * 2, 16_000_000)
    }
  }
}

public import CShims

/// A process-shared robust mutex in shared memory, in a place of 64 bytes.
///
/// Robust: when the thread that holds it ends, even by `kill -9`, the next one to lock it is told. It is not
/// priority-inheriting, and neither form works between PID namespaces. A thread holds at most 2048 of them.
///
/// This is a name for a place, freely copied; the lock itself is in the memory.
@frozen @safe public struct RobustMutex: @unchecked Sendable {
  // Sendable because a mutex is made to be used by several threads; the pointer itself never changes.
  @usableFromInline let place: UnsafeMutableRawPointer

  /// Bytes to reserve for one.
  public static let byteCount = Int(SHM_MUTEX_BYTES)

  /// Names the mutex at `place`.
  ///
  /// - Precondition: `place` is aligned to 8, `initialize()` ran there once for all processes, and the memory is
  ///   never unmapped. None of this is checked.
  @inlinable @inline(__always) @unsafe
  public init(at place: UnsafeMutableRawPointer) { unsafe self.place = place }

  /// Makes the bytes an unlocked mutex. Once, by the creator, before anyone else can see it: over a mutex in use
  /// it destroys the list the kernel walks for its owner.
  public func initialize() throws(SystemError) { try check("pthread_mutex_init", unsafe shm_mutex_init(place)) }

  /// Tries once. For a lock that a thread holds for life, `busy` means that the thread is alive, and
  /// `acquiredOwnerDied` that it is not.
  @inlinable @inline(__always)
  public func tryLock() -> LockResult { LockResult(code: unsafe shm_mutex_trylock(place)) }

  /// Does nobody alive seem to hold it? Of use to whoever spins: unlike an attempt, a look does not slow its owner down.
  @inlinable @inline(__always)
  public var looksFree: Bool { unsafe shm_mutex_looks_free(place) }

  /// Sleeps at most `timeoutNanoseconds` of CLOCK_MONOTONIC. Never `busy`. Signals do not end the wait.
  @inlinable @inline(__always)
  public func lock(timeoutNanoseconds: UInt64) -> LockResult {
    LockResult(code: unsafe shm_mutex_lock(place, Int64(clamping: timeoutNanoseconds)))
  }

  /// Throws `EPERM`, and nothing happened, if this thread does not hold it.
  @inlinable @inline(__always)
  public func unlock() throws(SystemError) { try check("pthread_mutex_unlock", unsafe shm_mutex_unlock(place)) }

  /// As ``unlock()``, where this thread is known to hold it: nothing that could fail is looked at.
  @inlinable @inline(__always)
  public func unlockHeld() { _ = unsafe shm_mutex_unlock(place) }

  /// After `acquiredOwnerDied`, as the last step of the repair: what it protects is in order again.
  /// Throws `EINVAL`, and nothing happened, if the lock was not acquired so.
  @inlinable @inline(__always)
  public func markConsistent() throws(SystemError) {
    try check("pthread_mutex_consistent", unsafe shm_mutex_consistent(place))
  }
}

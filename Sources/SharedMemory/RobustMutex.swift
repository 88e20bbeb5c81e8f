public import CShims

/// What an attempt to take a lock came to.
@frozen public enum LockResult: Equatable, Sendable {
  case acquired
  /// Acquired, from an owner that died holding it. Repair what the lock protects, call `markConsistent()`, and
  /// only then unlock.
  case acquiredOwnerDied
  /// Somebody else holds it.
  case busy
  /// Somebody else held it until the time was over.
  case timedOut
  /// For ever: someone unlocked it after `acquiredOwnerDied` without `markConsistent()`.
  case notRecoverable
  /// This thread holds it already.
  case wouldDeadlock
  /// Any other error number: the bytes are not a lock, or it has too many readers.
  case failed(errno: Int32)

  /// This thread holds the lock now.
  @inlinable @inline(__always)
  public var isAcquired: Bool { self == .acquired || self == .acquiredOwnerDied }

  @inlinable @inline(__always)
  init(code: Int32) {
    switch code {
    case 0: self = .acquired
    case 1: self = .acquiredOwnerDied
    case 2: self = .busy
    case 3: self = .timedOut
    case 4: self = .notRecoverable
    case 5: self = .wouldDeadlock
    default: self = .failed(errno: 0 &- code)
    }
  }
}

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

  /// After `acquiredOwnerDied`, as the last step of the repair: what it protects is in order again.
  /// Throws `EINVAL`, and nothing happened, if the lock was not acquired so.
  @inlinable @inline(__always)
  public func markConsistent() throws(SystemError) {
    try check("pthread_mutex_consistent", unsafe shm_mutex_consistent(place))
  }
}

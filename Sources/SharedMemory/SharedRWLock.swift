public import CShims

/// A process-shared readers-writer lock in shared memory, in a place of 64 bytes. Only its try forms.
///
/// There is no call that waits, on purpose: the C library's blocking and timed forms spin for ever after a peer was
/// killed at the wrong instruction, the try forms do not. Who must wait spins, then sleeps on an event, looks for
/// dead holders and tries again. The lock does not know its readers, and a dead holder's hold remains: such a lock
/// is abandoned for a fresh one, never unlocked for the dead.
@frozen @safe public struct SharedRWLock: @unchecked Sendable {
  // Sendable because a lock is made to be used by several threads; the pointer itself never changes.
  @usableFromInline let place: UnsafeMutableRawPointer

  /// Bytes to reserve for one.
  public static let byteCount = Int(SHM_RWLOCK_BYTES)

  /// Names the lock at `place`.
  ///
  /// - Precondition: `place` is aligned to 8, stays mapped, and `initialize()` ran there. None of this is checked.
  @inlinable @inline(__always) @unsafe
  public init(at place: UnsafeMutableRawPointer) { unsafe self.place = place }

  /// Makes the bytes an unlocked lock; nobody may be using it.
  public func initialize() throws(SystemError) { try check("pthread_rwlock_init", unsafe shm_rwlock_init(place)) }

  /// `acquired`, `busy` (a writer holds it) or `failed`. Recursive reads succeed as long as no writer is inside.
  @inlinable @inline(__always)
  public func tryRead() -> LockResult { LockResult(code: unsafe shm_rwlock_tryrdlock(place)) }

  /// `acquired`, `busy` (anyone holds it, this thread included) or `failed`.
  @inlinable @inline(__always)
  public func tryWrite() -> LockResult { LockResult(code: unsafe shm_rwlock_trywrlock(place)) }

  /// Gives back what this thread holds. Not checked: an unlock too many corrupts the lock, so keep a record of
  /// your own.
  @inlinable @inline(__always)
  public func unlock() { _ = unsafe shm_rwlock_unlock(place) }
}

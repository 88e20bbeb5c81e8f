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
    case Int32(SHM_LOCK_ACQUIRED): self = .acquired
    case Int32(SHM_LOCK_OWNER_DIED): self = .acquiredOwnerDied
    case Int32(SHM_LOCK_BUSY): self = .busy
    case Int32(SHM_LOCK_TIMED_OUT): self = .timedOut
    case Int32(SHM_LOCK_NOT_RECOVERABLE): self = .notRecoverable
    case Int32(SHM_LOCK_WOULD_DEADLOCK): self = .wouldDeadlock
    default: self = .failed(errno: 0 &- code)
    }
  }
}

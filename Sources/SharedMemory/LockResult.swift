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

public import CShims
import Glibc

/// A 32-bit counter in shared memory that processes can wait on.
///
/// Wait in this order, or a wake-up is lost: read `value`, look whether there is anything to wait for, then
/// `wait(while:)` with the value read. Whoever changes the state does so before `advance()`.
///
/// Everybody who waits is woken. A wake-one could be consumed by somebody who was killed, or who only observes.
@frozen @safe public struct FutexEvent: @unchecked Sendable {
  // Sendable because an event is made for several threads; the pointer itself never changes.
  @usableFromInline let word: UnsafeMutableRawPointer

  @frozen public enum WaitResult: Sendable, Equatable {
    /// The value was another one, or may be another by now: the thread was woken, perhaps by nobody. Look again.
    case woken
    case timedOut
    /// A signal handler ran: look at what it left behind before waiting on.
    case interrupted
    /// Any other error number: the word is not mapped.
    case failed(errno: Int32)
  }

  /// Names the event at `word`: 4 bytes aligned to 4, zero at first. Memory mapped read-only serves for waiting.
  /// None of this is checked.
  @inlinable @inline(__always) @unsafe
  public init(at word: UnsafeMutableRawPointer) { unsafe self.word = word }

  // PAIR event. Other end: FutexEvent.advance. Acquire: who sees the new count sees what was done before it.
  @inlinable @inline(__always)
  public var value: UInt32 { unsafe shm_load32_acquire(word) }

  /// Sleeps while the value is `expected`, at most `timeoutNanoseconds`.
  public func wait(while expected: UInt32, timeoutNanoseconds: UInt64) -> WaitResult {
    switch unsafe shmos_futex_wait(word, expected, Int64(clamping: timeoutNanoseconds)) {
    case 0, -EAGAIN: .woken
    case -ETIMEDOUT: .timedOut
    case -EINTR: .interrupted
    case let r: .failed(errno: 0 &- r)
    }
  }

  // PAIR event. Other end: FutexEvent.value. Release: what happened before is seen by who sees the count.
  /// Changes the value and wakes everybody who waits: one system call, also when nobody does.
  @inlinable
  public func advance() {
    _ = unsafe shm_add32_release(word, 1)
    wakeAll()
  }

  /// Wakes everybody who waits, without changing the value. Returns how many that were.
  @discardableResult
  @inlinable
  public func wakeAll() -> Int { Int(max(0, unsafe shmos_futex_wake(word, Int32.max))) }
}

import CShims
import Glibc
import Synchronization

extension FutexEvent {
  /// An event, and the value that somebody saw of it.
  public typealias Seen = (event: FutexEvent, value: UInt32)

  /// Sleeps while each event has the value that was seen, at most `timeoutNanoseconds`. May return early.
  ///
  /// futex_waitv(2), for up to 128 events. Where the system does not have it, or for more, it sleeps on one event after
  /// the other and looks at all of them every 10 ms.
  public static func wait(whileAll seen: [Seen], timeoutNanoseconds: UInt64) {
    guard let first = seen.first else { return }
    if seen.count == 1 {
      _ = first.event.wait(while: first.value, timeoutNanoseconds: timeoutNanoseconds)
      return
    }
    if seen.count <= Int(SHMOS_FUTEX_MANY), !isWaitingForManyDenied.load(ordering: .relaxed) {
      let words = unsafe seen.map { unsafe UnsafeRawPointer($0.event.word) }
      let values = seen.map(\.value)
      let result = unsafe shmos_futex_wait_many(words, values, Int32(seen.count), Int64(clamping: timeoutNanoseconds))
      if result >= 0 || [-EAGAIN, -ETIMEDOUT, -EINTR].contains(result) { return }
      // Want of memory passes. Anything else is a refusal for good, by the system (ENOSYS) or a sandbox's choice of number.
      if result != -ENOMEM { isWaitingForManyDenied.store(true, ordering: .relaxed) }
    }
    let start = HostClock.monotonicNanoseconds
    for turn in 0... {
      for one in seen where one.event.value != one.value { return }
      let passed = HostClock.monotonicNanoseconds &- start
      guard passed < timeoutNanoseconds else { return }
      let one = seen[turn % seen.count]
      _ = one.event.wait(while: one.value, timeoutNanoseconds: min(10_000_000, timeoutNanoseconds - passed))
    }
  }

  /// True once the system refused futex_waitv; a test may say so beforehand. Relaxed: whoever still asks is refused too.
  package static let isWaitingForManyDenied = Atomic(false)
}

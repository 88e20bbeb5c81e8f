import Dispatch
import SharedMemory

/// A moment until which a wait of several parts may last.
struct Deadline: Sendable {
  /// The moment by the monotonic clock, in nanoseconds.
  let instant: UInt64

  /// The end of time.
  static var never: Deadline { Deadline(UInt64.max) }

  /// A deadline that was made before.
  init(at instant: UInt64) { self.instant = instant }

  init(_ timeoutNanoseconds: UInt64) {
    let (sum, overflow) = HostClock.monotonicNanoseconds.addingReportingOverflow(timeoutNanoseconds)
    instant = overflow ? .max : sum
  }

  init(_ timeout: Duration) { self.init(timeout.clampedNanoseconds) }

  var isPast: Bool { leftNanoseconds == 0 }

  var leftNanoseconds: UInt64 {
    let now = HostClock.monotonicNanoseconds
    return now < instant ? instant - now : 0
  }

  var left: Duration { .nanoseconds(Int64(clamping: leftNanoseconds)) }

  var dispatchTime: DispatchTime { .now() + .nanoseconds(Int(clamping: leftNanoseconds)) }

  /// The end of a part that may last so long by itself.
  func instant(within nanoseconds: UInt64) -> UInt64 { min(instant, Deadline(nanoseconds).instant) }
}

import Dispatch
import SharedMemory

/// A moment until which a wait of several parts may last.
struct Deadline: Sendable {
  private let nanoseconds: UInt64

  init(_ timeoutNanoseconds: UInt64) { nanoseconds = HostClock.monotonicNanoseconds &+ timeoutNanoseconds }

  init(_ timeout: Duration) { self.init(timeout.clampedNanoseconds) }

  var isPast: Bool { leftNanoseconds == 0 }

  var leftNanoseconds: UInt64 {
    let now = HostClock.monotonicNanoseconds
    return now < nanoseconds ? nanoseconds - now : 0
  }

  var left: Duration { .nanoseconds(Int64(clamping: leftNanoseconds)) }

  var dispatchTime: DispatchTime { .now() + .nanoseconds(Int(clamping: leftNanoseconds)) }
}

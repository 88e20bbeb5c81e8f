import Glibc

/// The time of day.
struct WallTime {
  let seconds: Int
  let microseconds: Int

  /// In nanoseconds since 1970; no earlier than the moment.
  var nextNanoseconds: UInt64 { UInt64(seconds) * 1_000_000_000 + UInt64(microseconds + 1) * 1000 }

  static var now: WallTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(seconds: time.tv_sec, microseconds: time.tv_nsec / 1000)
  }
}

import Glibc

/// The time of day.
struct WallTime {
  let seconds: Int
  let microseconds: Int

  static var now: WallTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(seconds: time.tv_sec, microseconds: time.tv_nsec / 1000)
  }
}

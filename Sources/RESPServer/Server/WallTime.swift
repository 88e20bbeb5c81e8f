import SharedMemory

/// The time of day.
struct WallTime {
  let seconds: Int
  let microseconds: Int

  static var now: WallTime {
    let microseconds = Int(HostClock.realtimeNanoseconds / 1000)
    return WallTime(seconds: microseconds / 1_000_000, microseconds: microseconds % 1_000_000)
  }
}

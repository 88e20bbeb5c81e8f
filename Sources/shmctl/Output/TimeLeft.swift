import SharedMemory
import ToolSupport

/// What is left of a key's time to live.
enum TimeLeft {
  /// Never less than nothing. Rounded up: a key that is there has some time left.
  static func milliseconds(until expiry: UInt64) -> Int {
    let now = HostClock.realtimeNanoseconds
    return expiry > now ? Int((expiry - now + 999_999) / 1_000_000) : 0
  }

  /// As `--ttl` takes it: whole seconds, and milliseconds below ten of them.
  static func text(until expiry: UInt64) -> String {
    let left = milliseconds(until: expiry)
    return left < 10_000 ? "\(left)ms" : "\((left + 999) / 1000)s"
  }
}

extension JSONObject {
  /// When a key ends, in milliseconds since 1970, and how long that is from now.
  mutating func add(expiry: UInt64) {
    add("expiryMilliseconds", expiry / 1_000_000)
    add("timeLeftMilliseconds", TimeLeft.milliseconds(until: expiry))
  }
}

/// A time for people, in the largest unit that leaves at least 1, or 2 of minutes, hours and days: `350 ms`, `12 s`, `90 s`.
public struct RoundedTime: CustomStringConvertible {
  private let nanoseconds: UInt64

  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  public var description: String {
    switch nanoseconds {
    case ..<1000: "\(nanoseconds) ns"
    case ..<1_000_000: "\(nanoseconds / 1000) µs"
    case ..<1_000_000_000: "\(nanoseconds / 1_000_000) ms"
    case ..<(120 * 1_000_000_000): "\(nanoseconds / 1_000_000_000) s"
    case ..<(7200 * 1_000_000_000): "\(nanoseconds / 60_000_000_000) min"
    case ..<(172_800 * 1_000_000_000): "\(nanoseconds / 3_600_000_000_000) h"
    default: "\(nanoseconds / 86_400_000_000_000) d"
    }
  }
}

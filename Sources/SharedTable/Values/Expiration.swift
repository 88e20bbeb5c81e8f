/// When a value ends by itself.
public enum Expiration: Sendable, Equatable {
  /// It does not.
  case never
  /// So long after the instant of the section that stores it.
  case after(Duration)
  /// At this instant.
  case at(nanosecondsSince1970: UInt64)

  /// Nanoseconds since 1970, 0 for never.
  func nanoseconds(now: @autoclosure () -> UInt64) -> UInt64 {
    switch self {
    case .never: 0
    case .at(let instant): max(1, instant)
    case .after(let duration): now() &+ max(1, duration.clampedNanoseconds)
    }
  }
}

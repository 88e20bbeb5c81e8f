/// When a value ends by itself.
public enum Expiration: Sendable, Equatable {
  /// It does not.
  case never
  /// So long after the instant by which the barrier that stores it judges expiry; in a barrier of keys, which may last, after it was stored.
  case after(Duration)
  /// At this instant.
  case at(nanosecondsSince1970: UInt64)

  /// - Parameter instant: nanoseconds since 1970; nil: never.
  package init(at instant: UInt64?) { self = instant.map { .at(nanosecondsSince1970: $0) } ?? .never }

  /// - Parameter stored: nanoseconds since 1970, 0 for never, as ``nanoseconds(now:)`` says it and an entry has it.
  @inlinable @inline(__always)
  init(stored: UInt64) { self = stored == 0 ? .never : .at(nanosecondsSince1970: stored) }

  /// Nanoseconds since 1970, 0 for never.
  func nanoseconds(now: @autoclosure () -> UInt64) -> UInt64 {
    switch self {
    case .never: 0
    case .at(let instant): max(1, instant)
    case .after(let duration): now() &+ max(1, duration.clampedNanoseconds)
    }
  }
}

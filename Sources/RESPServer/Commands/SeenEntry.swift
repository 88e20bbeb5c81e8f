import SharedTable

/// A value that a command looks at: one of the table, or one that a draft has.
@safe
enum SeenEntry: ~Escapable {
  case stored(EntryView)
  /// An earlier command of the same transaction wrote it into the draft; the other store does not have it yet.
  case drafted(RawSpan)

  var bytes: RawSpan {
    @inline(__always) @_lifetime(copy self)
    get {
      switch self {
      case .stored(let entry): entry.bytes
      case .drafted(let bytes): bytes
      }
    }
  }

  /// Nil for a type that this release does not know.
  var type: ValueType? {
    @inline(__always)
    get {
      switch self {
      case .stored(let entry): entry.type
      case .drafted: .bytes
      }
    }
  }

  /// Of the barrier that stored it.
  var version: UInt64 {
    switch self {
    case .stored(let entry): entry.version
    case .drafted: 0
    }
  }

  /// Nanoseconds since 1970; nil for never.
  var expiry: UInt64? {
    switch self {
    case .stored(let entry): entry.expiry
    case .drafted: nil
    }
  }

  /// The text of a number; nil: the value is stored as it is sent.
  var number: String? {
    guard case .stored(let entry) = self else { return nil }
    return switch entry.type {
    case .integer: entry.value(as: Int.self).map { "\($0)" }
    case .double: entry.value(as: Double.self).map(Float80Text.shortest)
    case .bool: entry.value(as: Bool.self).map { $0 ? "true" : "false" }
    default: nil
    }
  }
}

public import TableEngine

/// One entry during an iteration; valid during the call it was passed to.
@safe
public struct EntryView: ~Escapable {
  @usableFromInline let found: FoundEntry

  @inlinable @_lifetime(immortal)
  init(_ found: FoundEntry) { self.found = found }

  /// The value's bytes in place.
  public var bytes: RawSpan {
    @inlinable @inline(__always) @_lifetime(copy self)
    get { unsafe _overrideLifetime(RawSpan(_unsafeBytes: found.value), copying: self) }
  }
  /// Nil for a type that this release does not know.
  @inlinable public var type: ValueType? { ValueType(rawValue: found.meta.type) }
  /// The version of the barrier that stored it.
  public var version: UInt64 { found.version }
  /// Is the value of this type and layout? Its bytes may be invalid nevertheless.
  func hasForm<T: TableValue>(of type: T.Type) -> Bool { found.hasForm(of: type) }
  /// Nanoseconds since 1970; nil for never.
  public var expiry: UInt64? { found.meta.hasExpiry ? found.expiry : nil }

  /// The value as a type; nil if it is of another.
  @inlinable
  public func value<T: TableValue>(as type: T.Type = T.self) -> T? {
    switch decode(found, as: type) {
    case .success(let value): value
    case .failure: nil
    }
  }
}

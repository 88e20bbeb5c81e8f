public import TableEngine

/// One entry during an iteration; valid during the call it was passed to.
@safe
public struct EntryView: ~Escapable {
  @usableFromInline let found: FoundEntry
  /// See ``Transaction/sharedVersion``; 0 outside of barriers.
  @usableFromInline let sharedVersion: UInt64

  @inlinable @_lifetime(immortal)
  init(_ found: FoundEntry, sharedVersion: UInt64 = 0) {
    self.found = found
    self.sharedVersion = sharedVersion
  }

  /// The value's bytes in place.
  public var bytes: RawSpan {
    @inlinable @inline(__always) @_lifetime(copy self)
    get { unsafe _overrideLifetime(RawSpan(_unsafeBytes: found.value), copying: self) }
  }
  /// Nil for a type that this release does not know.
  @inlinable public var type: ValueType? { ValueType(rawValue: found.meta.type) }
  /// The version of the barrier that stored it. 0 for what has been stored in a barrier that others may share, as long as that is under way: see
  /// ``TableEntry/version``.
  public var version: UInt64 { found.version == sharedVersion ? 0 : found.version }
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

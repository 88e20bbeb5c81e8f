import TableEngine

/// A value with what is stored beside it.
public struct TableEntry: Sendable, Equatable {
  /// The bytes as they are stored.
  public let bytes: [UInt8]
  /// Nil for a type that this release does not know.
  public let type: ValueType?
  /// The version of the barrier that stored it.
  ///
  /// 0, which no barrier has, in a barrier of a ``BarrierQueue`` by `async` or `await` and in a ``HostActor``, for what this barrier has stored:
  /// several closures or jobs may share one barrier of the table, and so the version. A later one may change the value, and a condition
  /// (``Table/Condition/version(_:)``) would not notice.
  public let version: UInt64
  /// Nanoseconds since 1970; nil for never.
  public let expiry: UInt64?

  @usableFromInline
  init(_ found: FoundEntry) { self.init(EntryView(found)) }

  /// A copy of an entry that is shown in place.
  @usableFromInline
  package init(_ entry: EntryView) {
    bytes = unsafe [UInt8](entry.found.value)
    type = entry.type
    version = entry.version
    expiry = entry.expiry
  }
}

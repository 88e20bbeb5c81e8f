import TableEngine

/// Where a walk through a table's keys stands, from one section to the next.
///
/// A walk in steps keeps no section open between the steps, and each step sees a snapshot of its own. The walk meets a key that is
/// there all the time exactly once; it may miss a key that comes or goes meanwhile.
public struct KeyCursor: Sendable {
  var position = ScanCursor()

  /// A new walk.
  public init() {}
  /// The walk is over.
  public var isAtEnd: Bool { position.isAtEnd }
}

extension ReadView {
  /// Visits the next part of the table, about a thousand keys, and moves the cursor behind it; expired keys left out.
  ///
  /// The spans are valid during the call of `body`. If `body` throws, the step ends, and the walk does not meet the rest of its keys any
  /// more. Never waits.
  /// - Throws: what `body` throws; for an observer `snapshotTooOld`, and `damaged`.
  public func forEach(
    from cursor: inout KeyCursor, prefix: some TableKey = "",
    _ body: (_ key: RawSpan, _ entry: EntryView) throws -> Void
  ) throws {
    var failure: (any Error)?
    try unsafe prefix.withKeyBytes { wanted throws(TableError) in
      do throws(EngineError) {
        try scan(&cursor.position) { found in
          guard unsafe found.hasPrefix(wanted) else { return true }
          do {
            try body(unsafe RawSpan(_unsafeBytes: found.key), EntryView(found))
            return true
          } catch {
            failure = error
            return false
          }
        }
      } catch {
        throw table.named(error)
      }
    }
    if let failure { throw failure }
  }
}

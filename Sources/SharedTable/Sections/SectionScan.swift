import TableEngine

/// What a view and a transaction have in common: entries that are visited sub-table by sub-table.
protocol SectionScan: ~Copyable, ~Escapable {
  var table: Table { get }

  /// What bodies see of an entry.
  @_lifetime(immortal)
  func view(_ found: FoundEntry) -> EntryView

  /// Visits the entries of the sub-table at the cursor, as the section sees them, and moves the cursor behind it.
  /// - Parameter body: returns false to stop early.
  func scan(_ cursor: inout ScanCursor, _ body: (FoundEntry) -> Bool) throws(EngineError)
}

extension SectionScan where Self: ~Copyable & ~Escapable {
  /// Visits every entry whose key begins with `prefix`, until `body` returns false. In a barrier, `body` must not write.
  func scan(_ prefix: some TableKey, _ body: (FoundEntry) -> Bool) throws(TableError) {
    try unsafe prefix.withKeyBytes { wanted throws(TableError) in
      var cursor = ScanCursor()
      var goesOn = true
      while !cursor.isAtEnd, goesOn {
        do throws(EngineError) {
          try scan(&cursor) { found in
            guard unsafe found.hasPrefix(wanted) else { return goesOn }
            goesOn = body(found)
            return goesOn
          }
        } catch {
          throw table.named(error)
        }
      }
    }
  }

  /// As ``scan(_:_:)``, for bodies that see keys and entries, and may throw; until `body` returns false.
  func visit(_ prefix: some TableKey, _ body: (_ key: RawSpan, _ entry: EntryView) throws -> Bool) throws {
    var failure: (any Error)?
    try scan(prefix) { found in
      do {
        return try body(unsafe RawSpan(_unsafeBytes: found.key), view(found))
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  func visitAll(_ prefix: some TableKey, _ body: (_ key: RawSpan, _ entry: EntryView) throws -> Void) throws {
    try visit(prefix) { key, entry in
      try body(key, entry)
      return true
    }
  }

  func visitFirst<R>(
    _ prefix: some TableKey, _ transform: (_ key: RawSpan, _ entry: EntryView) throws -> R?
  ) throws -> R? {
    var first: R?
    try visit(prefix) { key, entry in
      first = try transform(key, entry)
      return first == nil
    }
    return first
  }

  func sortedKeys(_ prefix: some TableKey) throws(TableError) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    try scan(prefix) { found in
      keys.append(unsafe [UInt8](found.key))
      return true
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }
}

extension ReadView: SectionScan {
  @_lifetime(immortal)
  func view(_ found: FoundEntry) -> EntryView { EntryView(found) }

  func scan(_ cursor: inout ScanCursor, _ body: (FoundEntry) -> Bool) throws(EngineError) {
    try table.segment.scan(&cursor, section, table.clock) { found in
      #if DEBUG || CheckedReads
        return body(section.check?.show(found) ?? found)
      #else
        return body(found)
      #endif
    }
  }
}

extension Transaction: SectionScan {
  @inlinable @_lifetime(immortal)
  func view(_ found: FoundEntry) -> EntryView { EntryView(found, sharedVersion: sharedVersion) }

  func scan(_ cursor: inout ScanCursor, _ body: (FoundEntry) -> Bool) throws(EngineError) {
    try table.segment.scanInBarrier(&cursor, table.clock, body)
  }
}

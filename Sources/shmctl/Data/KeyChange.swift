import SharedTable

/// A change of some keys in one barrier, that leaves collections whole.
struct KeyChange {
  private let table: Table
  private let force: Bool

  /// - Parameter force: change keys that belong to a collection, too.
  init(_ table: Table, force: Bool) {
    self.table = table
    self.force = force
  }

  /// Runs `body` in a barrier that excludes who uses these keys.
  ///
  /// Tried again when the table was full, as the library's own single writes are.
  /// - Throws: what `body` throws; a complaint if a key belongs to a collection.
  func run<R>(_ keys: [[UInt8]], _ body: (inout Transaction) throws -> R) throws -> R {
    try retryingWhenFull {
      // By force a collection goes with all its keys, also those that do not lie behind a slash.
      guard !force, let reach = Self.reach(keys) else {
        return try table.barrier { tx in
          try check(keys, tx)
          return try body(&tx)
        }
      }
      return try table.barrier(keys: reach) { tx in
        try check(keys, tx)
        return try body(&tx)
      }
    }
  }

  /// Runs `body` on the keys in one barrier or, where the table is too full for that, on one half after the other: it has room for the removals
  /// of some keys only, and each barrier reclaims what the one before removed.
  /// - Returns: what `body` returned for each key.
  func runInParts<R>(_ keys: [[UInt8]], _ body: ([[UInt8]], inout Transaction) throws -> [R]) throws -> [R] {
    do {
      return try run(keys) { tx in try body(keys, &tx) }
    } catch let error as TableError where error.mayFitAfterReclaiming && keys.count > 1 {
      let middle = keys.count / 2
      let first = try runInParts([[UInt8]](keys[..<middle]), body)
      return try first + runInParts([[UInt8]](keys[middle...]), body)
    }
  }

  private func check(_ keys: [[UInt8]], _ tx: borrowing Transaction) throws {
    if force { return }
    for key in keys {
      guard let collection = try tx.collection(of: key) else { continue }
      throw Self.refusal(of: key, collection, table)
    }
  }

  static func refusal(of key: [UInt8], _ collection: CollectionMembership, _ table: Table) -> Complaint {
    Complaint(.wrongType, table: table.name, reason(of: key, collection))
  }

  /// Why a key that belongs to a collection is not changed.
  static func reason(of key: [UInt8], _ collection: CollectionMembership) -> String {
    let what =
      collection.isHeader
      ? "is a \(collection.kind)"
      : "belongs to '\(String.printableStart(collection.name))', a \(collection.kind)"
    return
      "key '\(String.printableStart(key))' \(what), which would be damaged; change it by a program of yours, or give --force"
  }

  /// A barrier of keys takes 36, those above its keys included. A change of more keys than this holds the whole table.
  private static let mostKeys = 16
  /// Of a collection: ``CollectionMembership/namePart(of:)`` of a key may be longer, and is no collection's name then.
  private static let longestName = 200

  /// The keys to lock, so that the keys above them, which may be collections, can be read; nil if only the whole table will do.
  ///
  /// A barrier of keys reaches what lies behind a slash after them, and no further: for a key of a collection's page, which has a number sign
  /// there, only the whole table will do.
  private static func reach(_ keys: [[UInt8]]) -> [[UInt8]]? {
    if keys.count > mostKeys { return nil }
    var reach: Swift.Set<[UInt8]> = []
    for key in keys {
      let name = CollectionMembership.namePart(of: key)
      if name.isEmpty || name.count > longestName || key.dropFirst(name.count).first == UInt8(ascii: "#") { return nil }
      reach.insert([UInt8](name))
    }
    return [[UInt8]](reach)
  }
}

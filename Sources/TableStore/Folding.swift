/// `recent` on its way into `kv`, a slice at a time, so that no slice keeps a commit waiting for long.
///
/// To write a row of `kv` by itself costs a page. In the order of the keys, neighbours share it. So rows are sorted by eight
/// bytes of their keys, those behind what a sample of keys has in common, and within that by their place in `recent`: rows of
/// one key stay in order, and of those the last wins. Until all are in `kv` they stay in `recent`, which overrides it. So
/// a process may die between any two slices: the next one begins anew, and comes to the same.
struct Folding {
  enum Step {
    case reading
    case merging(next: Int)
    case deleting
  }

  /// Rows from here on came later, and are not part of it.
  let end: UInt64
  /// Of the rows that are part of it.
  let bytes: UInt64
  /// How many bytes of the keys are skipped.
  let skipped: Int
  var step = Step.reading
  var nextToRead: UInt64
  var rows: [(word: UInt64, sequence: UInt64)] = []
}

extension Store {
  private static let fewestRows: UInt64 = 4096
  private static let fewestBytes: UInt64 = 16 << 20
  private static let rowsRead: UInt64 = 50_000
  private static let rowsMerged = 2_000
  private static let rowsDeleted: UInt64 = 20_000
  /// Of keys and values that a slice merges, or of which it frees the pages.
  private static let bytesMerged: UInt64 = 4 << 20
  private static let bytesDeleted: UInt64 = 64 << 20

  /// Does a slice of folding if it is due: `recent` has as many rows as the table has keys, or as many bytes as the table can have, or
  /// is being folded. By its rows alone, few keys of long values would make a file of thousands of times what they are.
  /// - Returns: whether there is more to do.
  func fold(keyCount: Int, capacityBytes: Int) throws(StoreError) -> Bool {
    guard var folding else {
      let hasManyRows = recentCount >= max(Self.fewestRows, UInt64(keyCount))
      guard hasManyRows || recentBytes >= max(Self.fewestBytes, UInt64(capacityBytes)) else { return false }
      folding = try beginFolding()
      addedSinceSlice = (0, 0)
      return true
    }
    self.folding = nil
    defer { addedSinceSlice = (0, 0) }
    switch folding.step {
    case .reading: try read(&folding)
    case .merging(let next): try merge(&folding, next)
    case .deleting:
      let last = try firstToStay(before: folding.end)
      try database.inTransaction { () throws(StoreError) in
        try explaining(path) { () throws(SQLiteError) in try database.run("DELETE FROM recent WHERE seq < \(last)") }
        // What is whole without the rows that go.
        if last == nextSequence { try bind(to: uuid, applied: applied) }
      }
      firstSequence = last
      if last == folding.end {
        recentBytes -= folding.bytes
        return false
      }
    }
    self.folding = folding
    return true
  }

  private func beginFolding() throws(StoreError) -> Folding {
    let sample = try explaining(path) { () throws(SQLiteError) in
      let statement = try database.prepare(
        "SELECT key FROM recent WHERE seq % \(max(1, recentCount / 256)) = 0 LIMIT 256")
      var keys: [[UInt8]] = []
      while try statement.step() { keys.append(unsafe [UInt8](statement.bytes(0))) }
      return keys
    }
    var skipped = sample.first?.count ?? 0
    for key in sample { skipped = min(skipped, zip(key, sample[0]).prefix { $0 == $1 }.count) }
    return Folding(end: nextSequence, bytes: recentBytes, skipped: skipped, nextToRead: firstSequence)
  }

  private func read(_ folding: inout Folding) throws(StoreError) {
    let end = min(folding.end, folding.nextToRead + max(Self.rowsRead, 2 * UInt64(addedSinceSlice.rows)))
    let first = folding.nextToRead
    let skipped = folding.skipped
    let read = try explaining(path) { () throws(SQLiteError) in
      let statement = try database.prepare("SELECT seq, key FROM recent WHERE seq >= \(first) AND seq < \(end)")
      var rows: [(word: UInt64, sequence: UInt64)] = []
      while try statement.step() {
        let word = unsafe statement.bytes(1).dropFirst(skipped).prefix(8).enumerated().reduce(UInt64(0)) {
          $0 | UInt64($1.element) << UInt64(56 - $1.offset * 8)
        }
        rows.append((word, statement.unsigned(0)))
      }
      return rows
    }
    folding.rows += read
    folding.nextToRead = end
    if end == folding.end {
      folding.rows.sort { $0 < $1 }
      folding.step = .merging(next: 0)
    }
  }

  private func merge(_ folding: inout Folding, _ next: Int) throws(StoreError) {
    // At least twice what was added meanwhile: else a fold under constant change would take longer and longer, and never catch up.
    let most = min(folding.rows.count, next + max(Self.rowsMerged, 2 * addedSinceSlice.rows))
    let mostBytes = max(Self.bytesMerged, 2 * addedSinceSlice.bytes)
    let rows = folding.rows
    let end = try database.inTransaction { () throws(StoreError) -> Int in
      let statement = try recentRow()
      var (index, bytes) = (next, UInt64(0))
      while index < most, bytes < mostBytes {
        bytes += try mergeRow(rows[index].sequence, statement)
        index += 1
      }
      return index
    }
    folding.step = end == folding.rows.count ? .deleting : .merging(next: end)
    if end == folding.rows.count { folding.rows = [] }
  }

  /// - Returns: up to which row a slice deletes: the first that stays.
  private func firstToStay(before end: UInt64) throws(StoreError) -> UInt64 {
    let first = firstSequence
    let most = min(end, first + max(Self.rowsDeleted, 2 * UInt64(addedSinceSlice.rows)))
    let mostBytes = max(Self.bytesDeleted, 2 * addedSinceSlice.bytes)
    return try explaining(path) { () throws(SQLiteError) in
      // SQLite knows a value's length without reading the pages behind its first one.
      let statement = try database.prepare(
        "SELECT seq, length(key) + ifnull(length(value), 0) FROM recent WHERE seq >= \(first) AND seq < \(most) "
          + "ORDER BY seq")
      var bytes: UInt64 = 0
      while try statement.step() {
        bytes += statement.unsigned(1)
        if bytes >= mostBytes { return statement.unsigned(0) + 1 }
      }
      return most
    }
  }
}

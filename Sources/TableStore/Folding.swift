/// `recent` on its way into `kv`, a slice at a time, so that no slice keeps a commit waiting for long.
///
/// To write a row of `kv` by itself costs a page. In the order of the keys, neighbours share it. So rows are sorted by eight
/// bytes of their keys, those behind what a sample of keys has in common, and within that by their place in `recent`: rows of
/// one key stay in order, and of those the last wins. Each slice sorts the rows that it reads, and merging takes the first of
/// all of these runs. Until all are in `kv` they stay in `recent`, which overrides it. So a process may die between any two
/// slices: the next one begins anew, and comes to the same.
struct Folding {
  enum Step {
    case reading
    case merging
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
  var rows = SortedRuns()
}

extension Store {
  private static let fewestRows: UInt64 = 4096
  private static let fewestBytes: UInt64 = 16 << 20
  private static let rowsRead: UInt64 = 50_000
  private static let rowsMerged = 2_000
  private static let rowsDeleted: UInt64 = 20_000
  private static let keysSampled: UInt64 = 256
  /// Of keys, and of values as far as they lie in a row's own page.
  private static let bytesRead: UInt64 = 8 << 20
  private static let pageBytes: UInt64 = 4096
  /// Of keys and values that a slice merges, or of which it frees the pages.
  private static let bytesMerged: UInt64 = 4 << 20
  private static let bytesDeleted: UInt64 = 16 << 20

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
    case .merging: try merge(&folding)
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
      // Each by its number: a condition on all rows would read all of them.
      let statement = try database.prepare("SELECT key FROM recent WHERE seq = ?1")
      let pause = max(1, recentCount / Self.keysSampled)
      var keys: [[UInt8]] = []
      for index in 0..<min(recentCount, Self.keysSampled) {
        statement.bind(1, firstSequence + index * pause)
        if try statement.step() { keys.append(unsafe [UInt8](statement.bytes(0))) }
        statement.reset()
      }
      return keys
    }
    var skipped = sample.first?.count ?? 0
    for key in sample { skipped = min(skipped, zip(key, sample[0]).prefix { $0 == $1 }.count) }
    return Folding(end: nextSequence, bytes: recentBytes, skipped: skipped, nextToRead: firstSequence)
  }

  private func read(_ folding: inout Folding) throws(StoreError) {
    let first = folding.nextToRead
    let end = min(folding.end, first + max(Self.rowsRead, 2 * UInt64(addedSinceSlice.rows)))
    let mostBytes = max(Self.bytesRead, 2 * addedSinceSlice.bytes)
    let skipped = folding.skipped
    var (rows, next) = ([SortedRuns.Row](), end)
    try explaining(path) { () throws(SQLiteError) in
      let statement = try database.prepare(
        "SELECT seq, key, length(value) FROM recent WHERE seq >= \(first) AND seq < \(end) ORDER BY seq")
      var bytes: UInt64 = 0
      while try statement.step() {
        let key = unsafe statement.bytes(1)
        let word = unsafe key.dropFirst(skipped).prefix(8).enumerated().reduce(UInt64(0)) {
          $0 | UInt64($1.element) << UInt64(56 - $1.offset * 8)
        }
        rows.append((word, statement.unsigned(0)))
        bytes += UInt64(key.count) + min(statement.unsigned(2), Self.pageBytes)
        if bytes >= mostBytes {
          next = statement.unsigned(0) + 1
          break
        }
      }
    }
    folding.rows.add(rows)
    folding.nextToRead = next
    if next == folding.end { folding.step = .merging }
  }

  private func merge(_ folding: inout Folding) throws(StoreError) {
    // At least twice what was added meanwhile: else a fold under constant change would take longer and longer, and never catch up.
    let most = max(Self.rowsMerged, 2 * addedSinceSlice.rows)
    let mostBytes = max(Self.bytesMerged, 2 * addedSinceSlice.bytes)
    try database.inTransaction { () throws(StoreError) in
      let statement = try recentRow()
      var (count, bytes) = (0, UInt64(0))
      while count < most, bytes < mostBytes, let sequence = folding.rows.popFirst() {
        bytes += try mergeRow(sequence, statement)
        count += 1
      }
    }
    if folding.rows.isEmpty { folding.step = .deleting }
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

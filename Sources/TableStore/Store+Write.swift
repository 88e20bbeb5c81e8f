import TableEngine

/// What the follower writes.
extension Store {
  /// Appends what changed up to version `applied`, in one transaction: the store is the table at that version then.
  func append(_ entries: [StoredEntry], applied: UInt64) throws(StoreError) {
    try database.inTransaction { () throws(StoreError) in try addRows(entries, applied: applied) }
    nextSequence += UInt64(entries.count)
    let bytes = entries.reduce(0) { $0 + $1.byteCount }
    recentBytes += bytes
    addedSinceSlice = (addedSinceSlice.rows + entries.count, addedSinceSlice.bytes + bytes)
    note(applied: applied)
  }

  /// Adds rows to `recent`. In a transaction of the caller's.
  /// - Parameter beat: called each few thousand rows.
  func addRows(_ entries: [StoredEntry], applied: UInt64, _ beat: () -> Void = {}) throws(StoreError) {
    var sequence = nextSequence
    for (index, entry) in entries.enumerated() {
      if index % Self.rowsABeat == Self.rowsABeat - 1 { beat() }
      try append(entry, applied: applied, sequence)
      sequence += 1
    }
  }

  private func append(_ entry: StoredEntry, applied: UInt64, _ sequence: UInt64) throws(StoreError) {
    let numbers = RowNumbers(entry, applied: applied, sequence: sequence)
    let statement = statements.append
    statement.bind(1, sequence)
    statement.bind(2, applied)
    try unsafe entry.withBytes { key, value throws(StoreError) in
      unsafe statement.bind(3, key)
      if let value = unsafe value { unsafe statement.bind(4, value) } else { statement.bindNull(4) }
      statement.bind(5, numbers, checksum: unsafe numbers.checksum(key, value))
      try explaining(path, key: entry.key) { () throws(SQLiteError) in try statement.run() }
    }
  }

  /// Puts a row into `kv`, or removes it there. In a transaction of the caller's.
  func merge(_ entry: StoredEntry) throws(StoreError) {
    let numbers = RowNumbers(entry, applied: 0, sequence: 0)
    try unsafe entry.withBytes { key, value throws(StoreError) in
      try explaining(path, key: entry.key) { () throws(SQLiteError) in
        guard let value = unsafe value else {
          unsafe statements.remove.bind(1, key)
          return try statements.remove.run()
        }
        let statement = statements.put
        unsafe statement.bind(1, key)
        unsafe statement.bind(2, value)
        statement.bind(3, numbers, checksum: unsafe numbers.checksum(key, value))
        try statement.run()
      }
    }
  }

  /// The version of a key in `kv`; nil if it is not there.
  func version(of key: [UInt8]) throws(StoreError) -> UInt64? {
    try unsafe key.withBytes { key throws(StoreError) in
      try explaining(path) { () throws(SQLiteError) in
        unsafe statements.version.bind(1, key)
        defer { statements.version.reset() }
        return try statements.version.step() ? statements.version.unsigned(0) : nil
      }
    }
  }

  /// The next keys of `kv`, in order.
  func keys(after key: [UInt8], atMost count: Int) throws(StoreError) -> [[UInt8]] {
    try unsafe key.withBytes { key throws(StoreError) in
      try explaining(path) { () throws(SQLiteError) in
        let statement = try database.prepare("SELECT key FROM kv WHERE key > ?1 ORDER BY key LIMIT \(count)")
        unsafe statement.bind(1, key)
        var keys: [[UInt8]] = []
        while try statement.step() { keys.append(unsafe [UInt8](statement.bytes(0))) }
        return keys
      }
    }
  }

  /// Brings all of `recent` into `kv`. In a transaction of the caller's, which says how far by ``emptied()`` after it.
  func mergeRecent() throws(StoreError) {
    guard recentCount > 0 else { return }
    // Of each key the last row. In `kv` it has another checksum: it has no place in `recent` there. Only their numbers are sorted: SQLite
    // would hold all rows in memory, with their values.
    let numbers = try explaining(path) { () throws(SQLiteError) in
      try database.prepare(
        "SELECT seq FROM recent WHERE seq IN (SELECT max(seq) FROM recent GROUP BY key) ORDER BY key")
    }
    let statement = try recentRow()
    while try explaining(path, { () throws(SQLiteError) in try numbers.step() }) {
      _ = try mergeRow(numbers.unsigned(0), statement)
    }
    try explaining(path) { () throws(SQLiteError) in try database.run("DELETE FROM recent") }
  }

  /// Finds a row of `recent` by its number: for ``mergeRow(_:_:)``.
  func recentRow() throws(StoreError) -> Statement {
    try explaining(path) { () throws(SQLiteError) in try database.prepare("SELECT * FROM recent WHERE seq = ?1") }
  }

  /// Brings a row of `recent` into `kv`, in a transaction of the caller's.
  /// - Returns: bytes of its key and value; 0 if there is no such row.
  func mergeRow(_ number: UInt64, _ statement: Statement) throws(StoreError) -> UInt64 {
    statement.bind(1, number)
    defer { statement.reset() }
    guard try explaining(path, { () throws(SQLiteError) in try statement.step() }) else { return 0 }
    let entry = try Row(statement, of: .recent, path).entry
    try merge(entry)
    return entry.byteCount
  }

  /// After the transaction that emptied `recent`.
  func emptied() {
    firstSequence = nextSequence
    recentBytes = 0
    folding = nil
  }
}

extension StoredEntry {
  /// Runs `body` on the key's and the value's bytes; nil for a removal.
  func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws(E) -> R
  ) throws(E) -> R {
    try unsafe key.withBytes { keyBytes throws(E) in
      guard let value else { return try unsafe body(keyBytes, nil) }
      return try unsafe value.withBytes { valueBytes throws(E) in try unsafe body(keyBytes, valueBytes) }
    }
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` whose error keeps its type.
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result = unsafe withUnsafeBytes { bytes in
      do throws(E) { return Result<R, E>.success(try unsafe body(bytes)) } catch { return Result<R, E>.failure(error) }
    }
    return try result.get()
  }
}

extension Statement {
  /// The last six parameters of a row.
  fileprivate func bind(_ first: Int32, _ numbers: RowNumbers, checksum: UInt64) {
    bind(first, numbers.type)
    bind(first + 1, numbers.layout)
    bind(first + 2, numbers.alignment)
    bind(first + 3, numbers.expiry)
    bind(first + 4, numbers.version)
    bind(first + 5, checksum)
  }
}

import SharedTable
import TableEngine

/// What makes a table anew.
extension Store {
  /// Puts all that the store holds into a table that nobody can see yet, and makes this the store of it.
  ///
  /// From the newest row to the oldest: each key is stored once, as it is in the end. What a key was before, or a key that is gone, may be
  /// more than fits beside it.
  /// - Parameters:
  ///   - isMirror: the table mirrors another store.
  ///   - now: what has expired by then is left out.
  ///   - adapt: says what becomes of a key and its value. What is left out goes from the store, too; what is replaced there stays there.
  ///   - goesOn: asked at times. If it says no, the load ends.
  func load(
    into loader: Loader, isMirror: Bool, now: UInt64, adapting adapt: Adapt, _ goesOn: () -> Bool
  ) throws(Failure) {
    var gone = try unsafe loadRecent(into: loader, now, adapt, goesOn)
    try unsafe loadKeys(into: loader, except: &gone, now, adapt, goesOn)
    let version = loader.finish()
    do throws(StoreError) {
      try database.inTransaction { () throws(StoreError) in
        // From here on the table is made, whatever the answer is.
        try addRows(gone.toRemove.map { StoredEntry(key: $0, found: nil) }, applied: version) { _ = goesOn() }
        try note(isOfMirror: isMirror)
        try bind(to: loader.uuid, applied: version)
      }
    } catch {
      throw .store(error)
    }
    nextSequence += UInt64(gone.toRemove.count)
  }

  typealias Adapt = (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Adaptation

  enum Adaptation {
    case keep
    /// The table gets another value.
    case replace([UInt8])
    case leaveOut
  }

  /// Keys that the table does not get.
  private struct Gone {
    /// Their newest row of `recent` removes them, has expired, or is left out: what older rows say of them does not hold.
    var keys: Set<[UInt8]> = []
    /// Those whose newest row has expired, or is left out. The store forgets them, too: else it would not be the table, would keep them for good, and
    /// would give them back where the clock is behind.
    var toRemove: [[UInt8]] = []

    /// Copies the bytes only where there is something to compare them with.
    func includes(_ key: UnsafeRawBufferPointer) -> Bool { unsafe !keys.isEmpty && keys.contains([UInt8](key)) }
  }

  /// The two sides of loading can fail.
  enum Failure: Error {
    case store(StoreError)
    case table(EngineError)
  }

  private func loadRecent(
    into loader: Loader, _ now: UInt64, _ adapt: Adapt, _ goesOn: () -> Bool
  ) throws(Failure) -> Gone {
    var gone = Gone()
    var next = nextSequence
    try forEach("SELECT * FROM recent ORDER BY seq DESC", .recent, goesOn) { row throws(Failure) in
      next &-= 1
      guard row.sequence == next else { throw .store(outOfOrder) }
      if unsafe gone.includes(row.key) { return }
      if try unsafe put(row, row.value, into: loader, now, adapt) { return }
      if unsafe !loader.contains(row.key) {
        gone.keys.insert(unsafe [UInt8](row.key))
        if unsafe row.value != nil { gone.toRemove.append(unsafe [UInt8](row.key)) }
      }
    }
    return gone
  }

  private func loadKeys(
    into loader: Loader, except gone: inout Gone, _ now: UInt64, _ adapt: Adapt, _ goesOn: () -> Bool
  ) throws(Failure) {
    var last: [UInt8] = []
    try forEach("SELECT * FROM kv ORDER BY key", .kv, goesOn) { row throws(Failure) in
      let isInOrder = unsafe last.isEmpty || row.key.isBehind(last)
      guard isInOrder, let value = unsafe row.value else { throw .store(outOfOrder) }
      unsafe last.replaceSubrange(0..., with: row.key)
      if unsafe gone.includes(row.key) { return }
      if try unsafe put(row, value, into: loader, now, adapt) { return }
      if unsafe !loader.contains(row.key) {
        gone.toRemove.append(unsafe [UInt8](row.key))
      }
    }
  }

  /// - Returns: false if the table is not to have it.
  private func put(
    _ row: Row, _ value: UnsafeRawBufferPointer?, into loader: Loader, _ now: UInt64, _ adapt: Adapt
  ) throws(Failure) -> Bool {
    guard let value = unsafe value, !row.attributes.hasExpired(at: now) else { return false }
    do throws(EngineError) {
      switch unsafe adapt(row.key, value) {
      case .leaveOut: return false
      case .keep: try unsafe loader.putIfAbsent(row.key, value, row.attributes, version: row.version)
      case .replace(let other):
        try unsafe other.withBytes { value throws(EngineError) in
          try unsafe loader.putIfAbsent(row.key, value, row.attributes, version: row.version)
        }
      }
    } catch {
      throw .table(error)
    }
    return true
  }

  var outOfOrder: StoreError {
    StoreError(.damaged, path, "damaged: its rows are not in order; \(StoreError.moveAway)")
  }

  /// After so many rows, or so many bytes of them, the caller is asked whether it goes on: some tens of milliseconds, and on a slow disk a second.
  static let rowsABeat = 4096
  private static let bytesABeat = 8 << 20

  private func forEach(
    _ sql: String, _ place: Row.Place, _ goesOn: () -> Bool, _ body: (Row) throws(Failure) -> Void
  ) throws(Failure) {
    func store<R>(_ body: () throws(StoreError) -> R) throws(Failure) -> R {
      do throws(StoreError) { return try body() } catch { throw .store(error) }
    }
    let path = path
    let rows = try store { () throws(StoreError) in
      try explaining(path) { () throws(SQLiteError) in try database.prepare(sql) }
    }
    var (count, bytes) = (0, 0)
    while try store({ () throws(StoreError) in try explaining(path) { () throws(SQLiteError) in try rows.step() } }) {
      let row = try store { () throws(StoreError) in try Row(rows, of: place, path) }
      (count, bytes) = (count + 1, bytes + row.byteCount)
      if count >= Self.rowsABeat || bytes >= Self.bytesABeat {
        if !goesOn() { throw .table(.makingEnded) }
        (count, bytes) = (0, 0)
      }
      try body(row)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Bytewise, as SQLite orders blobs.
  func isBehind(_ other: [UInt8]) -> Bool { unsafe other.lexicographicallyPrecedes(self) }
}

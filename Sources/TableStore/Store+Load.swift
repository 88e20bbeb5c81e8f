import SharedTable
import TableEngine

/// What makes a table anew.
extension Store {
  /// Puts all that the store holds into a table that nobody can see yet, and makes this the store of it.
  ///
  /// From the newest row to the oldest: each key is stored once, as it is in the end. What a key was before, or a key that is gone, may be
  /// more than fits beside it.
  /// - Parameters:
  ///   - now: what has expired by then is left out.
  ///   - beat: called at times.
  func load(into loader: Loader, now: UInt64, _ beat: () -> Void) throws(Failure) {
    let gone = try loadRecent(into: loader, now, beat)
    try loadKeys(into: loader, except: gone, now, beat)
    do throws(StoreError) {
      try database.inTransaction { () throws(StoreError) in try bind(to: loader.uuid, applied: loader.finish()) }
    } catch {
      throw .store(error)
    }
  }

  /// The two sides of loading can fail.
  enum Failure: Error {
    case store(StoreError)
    case table(EngineError)
  }

  /// - Returns: the keys whose newest row removes them, or has expired: what older rows say of them does not hold.
  private func loadRecent(
    into loader: Loader, _ now: UInt64, _ beat: () -> Void
  ) throws(Failure) -> Set<[UInt8]> {
    var gone: Set<[UInt8]> = []
    var next = nextSequence
    try forEach("SELECT * FROM recent ORDER BY seq DESC", .recent, beat) { row throws(Failure) in
      next -= 1
      guard row.sequence == next else { throw .store(outOfOrder) }
      if unsafe gone.includes(row.key) { return }
      if let value = unsafe row.value, !row.attributes.hasExpired(at: now) {
        try unsafe put(row, value, into: loader)
      } else if unsafe !loader.contains(row.key) {
        gone.insert(unsafe [UInt8](row.key))
      }
    }
    return gone
  }

  private func loadKeys(
    into loader: Loader, except gone: Set<[UInt8]>, _ now: UInt64, _ beat: () -> Void
  ) throws(Failure) {
    var last: [UInt8] = []
    try forEach("SELECT * FROM kv ORDER BY key", .kv, beat) { row throws(Failure) in
      let isInOrder = unsafe last.isEmpty || row.key.isBehind(last)
      guard isInOrder, let value = unsafe row.value else { throw .store(outOfOrder) }
      unsafe last.replaceSubrange(0..., with: row.key)
      if row.attributes.hasExpired(at: now) { return }
      if unsafe gone.includes(row.key) { return }
      try unsafe put(row, value, into: loader)
    }
  }

  private func put(_ row: Row, _ value: UnsafeRawBufferPointer, into loader: Loader) throws(Failure) {
    do throws(EngineError) {
      try unsafe loader.putIfAbsent(row.key, value, row.attributes, version: row.version)
    } catch {
      throw .table(error)
    }
  }

  private var outOfOrder: StoreError {
    StoreError(.damaged, path, "damaged: its rows are not in order; \(StoreError.moveAway)")
  }

  /// So many rows take some milliseconds.
  private static let rowsABeat = 4096

  private func forEach(
    _ sql: String, _ place: Row.Place, _ beat: () -> Void, _ body: (Row) throws(Failure) -> Void
  ) throws(Failure) {
    func store<R>(_ body: () throws(StoreError) -> R) throws(Failure) -> R {
      do throws(StoreError) { return try body() } catch { throw .store(error) }
    }
    let path = path
    let rows = try store { () throws(StoreError) in
      try explaining(path) { () throws(SQLiteError) in try database.prepare(sql) }
    }
    var count = 0
    while try store({ () throws(StoreError) in try explaining(path) { () throws(SQLiteError) in try rows.step() } }) {
      count += 1
      if count % Self.rowsABeat == 0 { beat() }
      try body(try store { () throws(StoreError) in try Row(rows, of: place, path) })
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Bytewise, as SQLite orders blobs.
  func isBehind(_ other: [UInt8]) -> Bool { unsafe other.lexicographicallyPrecedes(self) }
}

extension Set<[UInt8]> {
  /// Copies the bytes only where there is something to compare them with.
  fileprivate func includes(_ bytes: UnsafeRawBufferPointer) -> Bool { unsafe !isEmpty && contains([UInt8](bytes)) }
}

import CSQLite
import SharedMemory

/// One table's file: what the table was at the version `applied`.
///
/// Rows lie in `kv`, by key, and in `recent`, in the order in which they were written, which overrides it. Used by one thread.
final class Store {
  /// The form of the file: a release that knows only earlier ones leaves it alone.
  static let format: Int64 = 1
  /// What SQLite's header says: "Shmd".
  static let applicationID: Int64 = 0x5368_6d64

  let path: String
  let generation: UInt64
  let database: Database
  /// Which table's store it is.
  private(set) var uuid: (UInt64, UInt64)
  /// The store is the table at this version.
  private(set) var applied: UInt64
  /// Whether the table was a mirror when it was stored.
  private(set) var isOfMirror = false
  /// The numbers of the next row of `recent`, and of the first that is there.
  var nextSequence: UInt64 = 1
  var firstSequence: UInt64 = 1
  /// Whether the rows of `recent` have numbers that a store gives.
  private var hasPossibleRows = true
  /// The bytes of keys and values in `recent`. After opening, what they are at most: their sum would take a look at all of them.
  var recentBytes: UInt64 = 0
  var folding: Folding?
  /// What was added to `recent` since the last slice of folding.
  var addedSinceSlice = (rows: 0, bytes: UInt64(0))
  let statements: Statements

  var recentCount: UInt64 { nextSequence - firstSequence }

  /// The statements that are run often.
  struct Statements {
    let append, put, remove, version: Statement

    init(_ database: Database) throws(SQLiteError) {
      append = try database.prepare("INSERT INTO recent VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")
      put = try database.prepare("INSERT OR REPLACE INTO kv VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")
      remove = try database.prepare("DELETE FROM kv WHERE key = ?1")
      version = try database.prepare("SELECT version FROM kv WHERE key = ?1")
    }
  }

  private init(_ database: Database, _ generation: UInt64, uuid: (UInt64, UInt64), applied: UInt64) throws(SQLiteError)
  {
    self.database = database
    path = database.path
    self.generation = generation
    self.uuid = uuid
    self.applied = applied
    statements = try Statements(database)
    if let first = try database.integer("SELECT seq FROM recent ORDER BY seq LIMIT 1"),
      let last = try database.integer("SELECT seq FROM recent ORDER BY seq DESC LIMIT 1")
    {
      hasPossibleRows = first > 0 && last < Int64.max / 2
      (firstSequence, nextSequence) = (UInt64(bitPattern: first), UInt64(bitPattern: last) &+ 1)
    }
    if let last = try database.integer("SELECT applied FROM recent ORDER BY seq DESC LIMIT 1") {
      self.applied = max(applied, UInt64(bitPattern: last))
      let (pages, free) = (try database.integer("PRAGMA page_count"), try database.integer("PRAGMA freelist_count"))
      recentBytes = UInt64(clamping: ((pages ?? 0) - (free ?? 0)) * (try database.integer("PRAGMA page_size") ?? 0))
    }
  }

  /// FULL in every mode: with NORMAL a commit is not on the disk when it returns. EXCLUSIVE: SQLite before 3.51.3 can lose
  /// commits when two connections write and checkpoint at once.
  private static func connect(_ path: String, create: Bool, _ disk: String?) throws(SQLiteError) -> Database {
    // A disk of the tests' own makes its files itself.
    if create, disk == nil { FileRights.makeFile(path) }
    FileRights.narrow(path)
    let database = try Database(path, create: create, disk: disk)
    if create, disk != nil { FileRights.narrow(path) }
    try database.run(
      """
      PRAGMA locking_mode=EXCLUSIVE;
      PRAGMA journal_mode=WAL;
      PRAGMA synchronous=FULL;
      PRAGMA temp_store=MEMORY;
      PRAGMA cache_size=-16384;
      PRAGMA cell_size_check=ON;
      PRAGMA journal_size_limit=67108864;
      """)
    database.noteLog()
    return database
  }

  // MARK: - Opening

  /// Opens the newest whole file of a table; removes, if it may, what a store that was never finished left, and files before it.
  /// - Returns: nil if the table has no store.
  /// - Throws: `older` if the newest file cannot have been made after the one before; why the one before cannot be looked at, unless the disk
  ///   cannot read it. Both stay then.
  static func open(
    _ table: String, in directory: StoreDirectory, disk: String? = nil, removingOthers: Bool = true
  ) throws(StoreError) -> Store? {
    var store: Store?
    for generation in try directory.generations(of: table) {
      let path = directory.file(of: table, generation)
      let isLeftover: Bool
      if let store {
        isLeftover = try store.replaces(path, generation, disk)
      } else {
        store = try open(path, generation, disk)
        isLeftover = store == nil
      }
      if removingOthers, isLeftover { directory.remove(table, generation) }
    }
    return store
  }

  /// Whether this store, whole as it is, was made in the place of a file of a lower number.
  ///
  /// shmd wrote it from memory, so it is never older. A copy that an administrator put beside that file may be, and would cost the table
  /// what was stored since. Another table's file is not this one's to replace, nor is one that cannot be looked at: it may be newer. One
  /// that the disk cannot read holds up nothing.
  private func replaces(_ path: String, _ generation: UInt64, _ disk: String?) throws(StoreError) -> Bool {
    switch EarlierFile(path, generation, ofTable: uuid, disk) {
    case .unfinished: return true
    // This store may have been made because of the damage.
    case .damaged: return true
    case .ofAnother: return false
    case .ofThisTable(let before) where before <= applied: return true
    case .ofThisTable:
      close()
      throw StoreError(
        .older, self.path,
        "is older than \(path) although its number is higher, so shmd did not write it after that one; if it is a copy, move it away to "
          + "another directory; if it is to count, move the other one away")
    // It may be why this store was made, which is whole. The disk may yet give that file back: it stays.
    case .unreadable(let error) where error.code == .inputOutput: return false
    case .unreadable(let error):
      close()
      throw error
    }
  }

  /// - Returns: nil if the file was never finished.
  static func open(_ path: String, _ generation: UInt64, _ disk: String?) throws(StoreError) -> Store? {
    if let stranger = FileRights.stranger(owning: path) { throw StoreError(path, of: stranger) }
    let database = try explaining(path) { () throws(SQLiteError) in try connect(path, create: false, disk) }
    func number(_ sql: String) throws(StoreError) -> Int64? {
      try explaining(path) { () throws(SQLiteError) in try database.integer(sql) }
    }
    let application = try number("PRAGMA application_id")
    let format = try number("PRAGMA user_version") ?? 0
    if application == 0, try number("SELECT count(*) FROM sqlite_schema") == 0 { return nil }
    if application != applicationID {
      throw StoreError(.notAStore, path, "is no table's store; name another 'store-directory', or move the file away")
    }
    guard format <= Self.format else {
      throw StoreError(
        .newerFormat, path,
        "a later release made it: its format is \(format), this one knows \(Self.format); use the later release, or move the "
          + "file away and begin with an empty table")
    }
    guard let high = try number("SELECT value FROM meta WHERE name = 'uuid-high'"),
      let low = try number("SELECT value FROM meta WHERE name = 'uuid-low'"),
      let applied = try number("SELECT value FROM meta WHERE name = 'applied'")
    else { throw StoreError(.damaged, path, "damaged: it does not say whose store it is; \(StoreError.moveAway)") }
    database.noteLog()
    let store = try explaining(path) { () throws(SQLiteError) in
      try Store(
        database, generation, uuid: (UInt64(bitPattern: high), UInt64(bitPattern: low)),
        applied: UInt64(bitPattern: applied))
    }
    guard store.hasPossibleRows else { throw store.outOfOrder }
    store.isOfMirror = try number("SELECT value FROM meta WHERE name = 'mirror'") == 1
    return store
  }

  /// Whose store a file says that it is, however damaged the rest of it is; nil if it does not.
  static func uuid(ofFile path: String, _ disk: String?) -> (UInt64, UInt64)? {
    guard let database = try? connect(path, create: false, disk) else { return nil }
    defer { database.close(leavingLog: true) }
    func number(_ sql: String) -> Int64? { (try? database.integer(sql)) ?? nil }
    guard number("PRAGMA application_id") == applicationID,
      let format = number("PRAGMA user_version"), format <= Self.format,
      let high = number("SELECT value FROM meta WHERE name = 'uuid-high'"),
      let low = number("SELECT value FROM meta WHERE name = 'uuid-low'")
    else { return nil }
    return (UInt64(bitPattern: high), UInt64(bitPattern: low))
  }

  /// Whether a file of a lower number may go once there is a newer one: it is that table's, or no whole store of any.
  private static func isReplaceable(
    _ path: String, _ generation: UInt64, by uuid: (UInt64, UInt64), _ disk: String?
  ) -> Bool {
    switch EarlierFile(path, generation, ofTable: uuid, disk) {
    case .unfinished, .damaged, .ofThisTable: true
    case .ofAnother, .unreadable: false
    }
  }

  /// Makes the next file of a table, and removes those before it that are this table's, damaged or never finished. What `fill` puts into it
  /// becomes its contents in one transaction: before that, and if `fill` throws, there is no such store.
  /// - Parameters:
  ///   - broken: a file of this table, which the disk may not be able to read any more; nil: none is known.
  ///   - fill: returns the version that it has put into it.
  static func create(
    _ table: String, in directory: StoreDirectory, uuid: (UInt64, UInt64), isMirror: Bool,
    replacing broken: UInt64? = nil, disk: String? = nil, _ fill: (Store) throws(StoreError) -> UInt64
  ) throws(StoreError) -> Store {
    try directory.prepare()
    let earlier = try directory.generations(of: table)
    let generation = (earlier.first ?? 0) + 1
    let path = directory.file(of: table, generation)
    let isThere = HostFile.exists(path)
    do throws(StoreError) {
      let database = try explaining(path) { () throws(SQLiteError) in try connect(path, create: true, disk) }
      let store = try database.inTransaction { () throws(StoreError) in
        let store = try explaining(path) { () throws(SQLiteError) in
          try database.run(schema)
          try database.run("PRAGMA application_id=\(applicationID); PRAGMA user_version=\(format)")
          return try Store(database, generation, uuid: uuid, applied: 0)
        }
        try store.note(isOfMirror: isMirror)
        try store.bind(to: uuid, applied: try fill(store))
        return store
      }
      // The first commit has made it.
      database.noteLog()
      for generation in earlier
      where generation == broken || isReplaceable(directory.file(of: table, generation), generation, by: uuid, disk) {
        directory.remove(table, generation)
      }
      return store
    } catch {
      // Another process's if it was there before, or is in use.
      if !isThere, error.code != .inUse { directory.remove(table, generation) }
      throw error
    }
  }

  private static let schema = """
    CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE kv(key BLOB PRIMARY KEY, value BLOB NOT NULL, type INTEGER, layout INTEGER, alignment INTEGER,
      expiry INTEGER, version INTEGER, checksum INTEGER) WITHOUT ROWID;
    CREATE TABLE recent(seq INTEGER PRIMARY KEY, applied INTEGER, key BLOB, value BLOB, type INTEGER, layout INTEGER,
      alignment INTEGER, expiry INTEGER, version INTEGER, checksum INTEGER);
    CREATE VIEW entries AS SELECT CAST(key AS TEXT) AS key,
      CASE type WHEN 1 THEN 'bytes' WHEN 2 THEN 'string' WHEN 3 THEN 'integer' WHEN 4 THEN 'double' WHEN 5 THEN 'bool'
        WHEN 6 THEN 'json' WHEN 7 THEN 'struct' ELSE type END AS type,
      CASE WHEN type IN (2, 6) THEN CAST(value AS TEXT) ELSE hex(value) END AS value,
      CASE expiry WHEN 0 THEN NULL ELSE datetime(expiry / 1000000000, 'unixepoch') END AS expires, version
      FROM (SELECT key, value, type, expiry, version FROM kv WHERE key NOT IN (SELECT key FROM recent)
        UNION ALL SELECT key, value, type, expiry, version FROM recent
          WHERE value IS NOT NULL AND seq IN (SELECT max(seq) FROM recent GROUP BY key));
    """

  /// Says whose store this is and how far it has got. In a transaction of the caller's, or by itself in one.
  func bind(to uuid: (UInt64, UInt64), applied: UInt64) throws(StoreError) {
    try explaining(path) { () throws(SQLiteError) in
      let statement = try database.prepare(
        "INSERT OR REPLACE INTO meta VALUES('uuid-high', ?1), ('uuid-low', ?2), ('applied', ?3)")
      statement.bind(1, uuid.0)
      statement.bind(2, uuid.1)
      statement.bind(3, applied)
      try statement.run()
    }
    self.uuid = uuid
    self.applied = applied
  }

  /// Counts on, for the sync: then all that was committed before is on the disk. A transaction that changes no byte might write nothing.
  func commitAgain() throws(StoreError) {
    try explaining(path) { () throws(SQLiteError) in
      try database.run(
        "INSERT INTO meta VALUES('proofs', 1) ON CONFLICT(name) DO UPDATE SET value = CAST(value AS INTEGER) + 1")
    }
  }

  /// Syncs what lies in the file itself: an administrator may have copied the file there.
  func syncFile() throws(StoreError) { try explaining(path) { () throws(SQLiteError) in try database.syncFile() } }

  /// Says what kind of table it is. In a transaction of the caller's. A file of an earlier release does not say it.
  func note(isOfMirror: Bool) throws(StoreError) {
    try explaining(path) { () throws(SQLiteError) in
      try database.run("INSERT OR REPLACE INTO meta VALUES('mirror', \(isOfMirror ? 1 : 0))")
    }
    self.isOfMirror = isOfMirror
  }

  /// After a transaction has said so.
  func note(applied: UInt64) { self.applied = applied }

  /// Ends the use of the file.
  /// - Parameter isBroken: its sync has failed: nothing is written to it any more.
  func close(isBroken: Bool = false) {
    for statement in [statements.append, statements.put, statements.remove, statements.version] { statement.finalize() }
    database.close(leavingLog: isBroken)
  }
}

/// Gives SQLite's error the file's name and advice.
/// - Parameter key: of the entry that is written; nil: none is.
func explaining<R>(
  _ path: String, key: [UInt8]? = nil, _ body: () throws(SQLiteError) -> R
) throws(StoreError) -> R {
  do throws(SQLiteError) { return try body() } catch { throw StoreError(error, path, key: key) }
}

import CSQLite

/// A prepared statement. Columns and parameters count as in SQLite: columns from 0, parameters from 1.
@safe
final class Statement {
  private let handle: OpaquePointer
  private let database: OpaquePointer

  init(_ handle: OpaquePointer, of database: OpaquePointer) {
    unsafe self.handle = handle
    unsafe self.database = database
  }

  private var isFinalized = false

  /// The connection outlives its statements: SQLite ends it with the last of them.
  deinit { finalize() }

  func finalize() {
    if !isFinalized { unsafe sqlite3_finalize(handle) }
    isFinalized = true
  }

  /// Of the first parameter that could not be bound since the last step: SQLite would run the statement without it.
  private var failedBind: SQLiteError?

  /// Goes on to the next row.
  /// - Returns: false at the end.
  /// - Throws: also what a parameter could not be bound for; then the statement has not run.
  func step() throws(SQLiteError) -> Bool {
    if let failedBind {
      self.failedBind = nil
      reset()
      throw failedBind
    }
    switch unsafe sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      let error = unsafe SQLiteError(code, database)
      reset()
      throw error
    }
  }

  /// Runs a statement without rows, and makes it ready to be run again.
  func run() throws(SQLiteError) {
    _ = try step()
    reset()
  }

  func reset() { unsafe sqlite3_reset(handle) }

  /// Numbers keep their 64 bits; those from 2^63 on show as negative ones.
  func bind(_ index: Int32, _ value: UInt64) {
    noteBind(unsafe sqlite3_bind_int64(handle, index, Int64(bitPattern: value)))
  }

  /// What is too large for SQLite is told by the next ``step()``.
  /// - Parameter bytes: are not copied: they must stay until the statement has run.
  func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
    if let base = bytes.baseAddress, bytes.count > 0 {
      noteBind(unsafe sqlite3_bind_blob64(handle, index, base, UInt64(bytes.count), nil))
    } else {
      noteBind(unsafe sqlite3_bind_zeroblob(handle, index, 0))
    }
  }

  func bindNull(_ index: Int32) { noteBind(unsafe sqlite3_bind_null(handle, index)) }

  private func noteBind(_ code: Int32) {
    if code != SQLITE_OK, failedBind == nil { failedBind = unsafe SQLiteError(code, database) }
  }

  func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }
  func unsigned(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }
  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// Valid until the next step.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let base = unsafe sqlite3_column_blob(handle, column)
    return unsafe UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(handle, column)))
  }
}

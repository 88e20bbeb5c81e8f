import CSQLite
import Glibc

/// One connection to a database file, used by one thread at a time.
@safe
final class Database {
  let path: String
  private let handle: OpaquePointer
  private var isOpen = true
  /// SQLite's log, by device and inode.
  private var log: (UInt64, UInt64)?

  /// Opens a file, or makes it.
  /// - Parameter disk: the name of a VFS; nil: the system's. For tests.
  init(_ path: String, create: Bool, disk: String? = nil) throws(SQLiteError) {
    self.path = path
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = unsafe sqlite3_open_v2(path, &handle, flags, disk)
    guard code == SQLITE_OK, let handle = unsafe handle else {
      let error = unsafe SQLiteError(code, handle)
      unsafe sqlite3_close_v2(handle)
      throw error
    }
    unsafe self.handle = handle
    _ = unsafe csqlite_distrust_schema(handle)
  }

  deinit { close() }

  /// Closes the connection: what the log holds goes into the file first.
  /// - Parameter leavesLog: true does not touch the file any more.
  func close(leavingLog leavesLog: Bool = false) {
    guard isOpen else { return }
    isOpen = false
    if leavesLog { _ = unsafe csqlite_leave_log_at_close(handle) }
    unsafe sqlite3_close_v2(handle)
  }

  /// Notes which file SQLite's log is. To be called once it is there: of a new database after the first commit, else after the first read, since
  /// a file that was made by VACUUM INTO gets its log only then.
  func noteLog() { log = logUnderName }

  /// Removes the log of a closed connection whose file has moved. SQLite leaves it, and would put it into the next file of this name. A log that
  /// came with another file stays.
  func removeLog() {
    guard let log, let found = logUnderName, log == found else { return }
    unsafe unlink(logPath)
  }

  private var logPath: String { path + "-wal" }

  private var logUnderName: (UInt64, UInt64)? {
    var status = stat()
    return unsafe stat(logPath, &status) == 0 ? (UInt64(status.st_dev), UInt64(status.st_ino)) : nil
  }

  /// Whether the file has its name no more: it was removed, moved, or another lies in its place.
  var hasMoved: Bool {
    var moved: Int32 = 0
    return unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
  }

  /// Syncs the file itself: a commit syncs the log alone.
  func syncFile() throws(SQLiteError) {
    let code = unsafe csqlite_sync_file(handle)
    if code != SQLITE_OK { throw SQLiteError(code, errno: errno) }
  }

  /// Runs statements that have no parameters and whose rows nobody wants.
  func run(_ sql: String) throws(SQLiteError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw unsafe SQLiteError(code, handle) }
  }

  /// A statement to be run many times.
  func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    var statement: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement = unsafe statement else { throw unsafe SQLiteError(code, handle) }
    return unsafe Statement(statement, of: handle)
  }

  /// The first column of a statement's only row.
  func integer(_ sql: String) throws(SQLiteError) -> Int64? {
    let statement = try prepare(sql)
    defer { statement.reset() }
    return try statement.step() ? statement.integer(0) : nil
  }

  /// What one transaction does; undone if `body` throws.
  func inTransaction<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(SQLiteError) { try run("BEGIN IMMEDIATE") } catch { throw StoreError(error, path) }
    do throws(StoreError) {
      let result = try body()
      do throws(SQLiteError) { try run("COMMIT") } catch { throw StoreError(error, path) }
      return result
    } catch {
      // After some errors SQLite has rolled back by itself.
      try? run("ROLLBACK")
      throw error
    }
  }
}

/// What SQLite said.
struct SQLiteError: Error {
  /// The extended result code.
  let code: Int32
  let message: String
  /// The system call's error number, 0 if there was none.
  let errno: Int32
  /// How many bytes a value, or a row, of the connection has at most.
  let mostBytes: Int32

  init(_ code: Int32, _ handle: OpaquePointer?) {
    self.code = code
    errno = unsafe handle.map { unsafe sqlite3_system_errno($0) } ?? 0
    mostBytes = unsafe handle.map { unsafe sqlite3_limit($0, SQLITE_LIMIT_LENGTH, -1) } ?? 0
    message = unsafe handle.map { unsafe String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
  }

  /// Of a call that a connection does not remember.
  init(_ code: Int32, errno: Int32) {
    self.code = code
    self.errno = errno
    mostBytes = 0
    message = unsafe String(cString: sqlite3_errstr(code))
  }

  /// The primary result code.
  var kind: Int32 { code & 0xff }
}

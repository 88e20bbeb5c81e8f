import CSQLite

/// Runs a statement on a store that nobody else has open.
/// - Returns: the first column of each row.
@discardableResult
func runSQL(_ sql: String, on path: String) throws -> [String] {
  var handle: OpaquePointer?
  guard sqlite3_open(path, &handle) == SQLITE_OK else { throw StoreFailure("cannot open \(path)") }
  defer { sqlite3_close(handle) }
  var statement: OpaquePointer?
  guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
    throw StoreFailure(String(cString: sqlite3_errmsg(handle)))
  }
  defer { sqlite3_finalize(statement) }
  var rows: [String] = []
  while sqlite3_step(statement) == SQLITE_ROW {
    rows.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
  }
  return rows
}

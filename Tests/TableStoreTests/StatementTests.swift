import CSQLite
import TestSupport
import Testing

@testable import TableStore

/// A prepared statement by itself.
@Suite struct StatementTests {
  /// SQLite takes a value that it could not bind for NULL: a row without it would be committed, and said to be durable.
  @Test func aValueBeyondTheLimitIsAnErrorAndNotNull() throws {
    var database: OpaquePointer?
    try #require(sqlite3_open(":memory:", &database) == SQLITE_OK)
    defer { sqlite3_close(database) }
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 1000)
    try #require(sqlite3_exec(database, "CREATE TABLE rows(number INTEGER, value BLOB)", nil, nil, nil) == SQLITE_OK)
    var prepared: OpaquePointer?
    let sql = "INSERT INTO rows VALUES(?1, ?2)"
    try #require(sqlite3_prepare_v2(database, sql, -1, &prepared, nil) == SQLITE_OK)
    let statement = Statement(try #require(prepared), of: try #require(database))
    defer { statement.finalize() }
    func insert(_ count: Int) throws {
      try [UInt8](repeating: 7, count: count).withUnsafeBytes { bytes in
        statement.bind(1, UInt64(count))
        statement.bind(2, bytes)
        try statement.run()
      }
    }
    try insert(900)
    let error = #expect(throws: SQLiteError.self) { try insert(1001) }
    #expect(error?.kind == SQLITE_TOOBIG)
    // One that is bound anew is run.
    try insert(0)
    #expect(sqlite3_total_changes(database) == 2)
    let told = try StoreError(#require(error), "orders.1.sqlite")
    #expect(told.code.rawValue == "tooLarge")
    #expect(told.description.hasPrefix("orders.1.sqlite: a key with its value is larger than the 1000 bytes"))
  }
}

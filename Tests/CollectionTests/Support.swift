import TestSupport
import Testing

@testable import SharedTable

func withTable(
  _ variant: Table.Variant, capacityBytes: Int = 16 << 20, _ body: (Table) throws -> Void
) throws {
  try withTableName { (name: String) throws -> Void in
    let options = Table.Options(variant: variant, capacityBytes: capacityBytes)
    let table = try Table.create(name, options, timeout: .seconds(200))
    try body(table)
    #expect(try table.check() == [])
  }
}

/// A handle that only observes.
func observer(of table: Table) throws -> Table {
  try Table.open(table.name, access: .observer, timeout: .seconds(200))
}

/// A worker that has the table open.
func worker(_ table: Table, _ access: String = "participant", timeoutSeconds: Int = 240) throws -> WorkerProcess {
  let worker = try WorkerProcess("table-worker", timeoutSeconds: timeoutSeconds)
  try worker.ask("open \(table.name) \(access)", expecting: "ok")
  return worker
}

/// The code of the error that `body` throws; nil if it throws none.
func code(_ body: () throws -> Void) -> TableError.Code? {
  do {
    try body()
    return nil
  } catch let error as TableError {
    return error.code
  } catch {
    Issue.record("another error: \(error)")
    return nil
  }
}

/// What a closure throws on purpose.
struct Stop: Error {}

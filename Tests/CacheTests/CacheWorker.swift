import SharedTable
import TableTestSupport
import TestSupport

typealias StringCache = SharedCache<String, String>

/// A worker that has the table open, and in it the cache "c".
func cacheWorker(_ table: Table, limit: Int = 100) throws -> WorkerProcess {
  let worker = try worker(table)
  try worker.ask("cache c \(limit)", expecting: "ok")
  return worker
}

/// What is wrong with the ledger of the cache "c".
func problems(_ table: Table) throws -> [String] {
  try table.read { view in try view.cacheProblems("c", reportsLinesWithoutElement: true) }
}

import SharedTable
import TestSupport
import Testing

/// One table of its own; its invariants are checked afterwards.
func withTable(_ variant: Table.Variant, capacityBytes: Int = 16 << 20, _ body: (Table) throws -> Void) throws {
  try withTableName { (name: String) throws -> Void in
    let table = try Table.create(
      name, Table.Options(variant: variant, capacityBytes: capacityBytes), timeout: .seconds(200))
    try body(table)
    #expect(try table.check() == [])
  }
}

func withTable(
  _ variant: Table.Variant, isolation: isolated (any Actor)? = #isolation, _ body: (Table) async throws -> Void
) async throws {
  try await withTableName { (name: String) async throws -> Void in
    let table = try Table.create(
      name, Table.Options(variant: variant, capacityBytes: 16 << 20), timeout: .seconds(200))
    try await body(table)
    #expect(try table.check() == [])
  }
}

/// A worker that takes part in the table.
func worker(_ table: Table) throws -> WorkerProcess {
  let worker = try WorkerProcess("table-worker", timeoutSeconds: 240)
  try worker.ask("open \(table.name) participant", expecting: "ok")
  return worker
}

/// The error that `body` throws; nil if it throws none.
func error(_ body: () throws -> Void) -> TableError? {
  do {
    try body()
    return nil
  } catch let error as TableError {
    return error
  } catch {
    Issue.record("another error: \(error)")
    return nil
  }
}

func code(_ body: () throws -> Void) -> TableError.Code? { error(body)?.code }

struct Refusal: Error, Equatable {
  var number = 0
}

/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

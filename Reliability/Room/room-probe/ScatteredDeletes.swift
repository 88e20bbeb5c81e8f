import SharedTable
import TestSupport

/// Fills a table with values of 100 bytes, deletes nine of ten at random, and fills it again with values of another size.
/// - Returns: the share of what was free that the new values' blocks take.
func shareFilledAfterScatteredDeletes(_ variant: Table.Variant, size: Int) throws -> Double {
  let table = try Table.temporary(variant: variant, capacityBytes: 16 << 20)
  var generator = SplitMix(seed: 7)
  let stored = try fill(table, "old", size: 100)
  for index in 0..<stored where generator.below(10) != 0 { _ = try table.remove("old \(index)") }
  _ = try table.administration.maintain()
  let used = table.statistics.usedBytes!
  let free = table.statistics.capacityBytes - used
  _ = try fill(table, "new", size: size)
  let problems = try table.check()
  precondition(problems.isEmpty, "the table is damaged: \(problems)")
  return Double(table.statistics.usedBytes! - used) / Double(free)
}

private func fill(_ table: Table, _ prefix: String, size: Int) throws -> Int {
  let value = [UInt8](repeating: 1, count: size)
  var stored = 0
  while true {
    do throws(TableError) { try table.set("\(prefix) \(stored)", value) } catch {
      guard error.code == .full else { throw error }
      return stored
    }
    stored += 1
  }
}

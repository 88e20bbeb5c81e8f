import SharedMemory
import SharedTable
import TestSupport

/// Fills most of a table of 64 MiB with values of 100 bytes, deletes all of them, or nine of ten at random, and shrinks it.
/// - Returns: memory that both objects have then, in bytes beyond 1 MiB, as a share of what they had before.
func shareKeptAfterDeletes(_ variant: Table.Variant, deletesAll: Bool) throws -> Double {
  let name = uniqueTableName()
  defer { removeObjects(ofTable: name) }
  let table = try Table.create(name, .init(variant: variant, capacityBytes: 64 << 20))
  var generator = SplitMix(seed: 7)
  let value = [UInt8](repeating: 1, count: 100)
  for index in 0..<200_000 { try table.set("key \(index)", value) }
  let before = try allocatedBytes(name)
  for index in 0..<200_000 where deletesAll || generator.below(10) != 0 { _ = try table.remove("key \(index)") }
  while try table.administration.maintain() == true {}
  while let step = try table.administration.shrink(), step.isUnfinished {}
  let problems = try table.check()
  precondition(problems.isEmpty, "the table is damaged: \(problems)")
  return Double(max(0, try allocatedBytes(name) - (1 << 20))) / Double(before)
}

private func allocatedBytes(_ name: String) throws -> Int {
  try ["data", "ctl"].reduce(0) { sum, object in
    try sum + SharedObject.open(name: "shmtable.\(name).\(object)", writable: false).status().allocated
  }
}

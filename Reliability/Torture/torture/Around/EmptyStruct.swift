import SharedTable
import TestSupport

private enum Only: CaseIterable { case one }

private struct Nothing: SharedStruct {
  static let schemaName = "torture.nothing"
  var only = Only.one
  var none: Void = ()
}

/// What the optimiser makes of a value's bytes where there are none: tests are not optimised.
func emptyStruct(_ run: Run) throws {
  let table = try Table.temporary(capacityBytes: 16 << 20)
  try table.set("k", Nothing())
  try table.set("expiring", Nothing(), expires: .after(.seconds(600)))
  try table.barrier { tx in try tx.set("tx", Nothing()) }
  try SharedDictionary<String, Nothing>("d", in: table).set("k", Nothing())
  try SharedCache<String, Nothing>("c", in: table, limit: .entries(9)).set("k", Nothing())
  let array = try SharedArray<Nothing>("a", in: table)
  try array.append(Nothing())
  try array.append(contentsOf: [Nothing(), Nothing()])
  for key in ["k", "expiring", "tx", "d/k", "c/k"] {
    try run.expect(try table.bytes(forKey: key) == [], "the value of '\(key)' has bytes")
  }
  try run.expect(try array.count == 3, "the array has not three elements")
  run.row("an optimised program", "a struct of no bytes written in seven ways", "each write stored a value of no bytes")
}

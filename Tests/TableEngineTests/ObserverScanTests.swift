import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// What an observer copies while it visits a table.
@Suite struct ObserverScanTests {
  /// 64 values of 4 MiB lie in one sub-table, and in an address space that has 64 MiB left.
  @Test(arguments: Table.Variant.allCases) func aScanNeedsNoCopyOfAllThatASubTableHolds(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant, capacityBytes: 400 << 20) { table throws in
      let value = [UInt8](repeating: 7, count: 4 << 20)
      for index in 0..<64 { try table.set("key \(index)", value) }
      let observer = try worker(table, "observer")
      try observer.ask("scan-limit-memory \(64 << 20)", expecting: "ok")
      try observer.ask("scan-sizes key", expecting: "64 keys, \(64 * value.count) bytes")
      // One value for which there is no room at all is an error, and ends nothing.
      try table.set("long", [UInt8](repeating: 8, count: 70 << 20))
      try observer.ask("scan-sizes key", expecting: "error full")
      try observer.ask("scan-size long", expecting: "error full")
      try observer.ask("scan-size key", expecting: "nil")
      try observer.finish()
    }
  }
}

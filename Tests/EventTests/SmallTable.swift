import SharedTable
import TableTestSupport

/// A small table: its change log is soon overrun.
func withTable(_ variant: Table.Variant, _ body: (Table) throws -> Void) throws {
  try withTable(variant, capacityBytes: 4 << 20, body)
}

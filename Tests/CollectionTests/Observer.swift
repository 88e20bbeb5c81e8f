import SharedTable

/// A handle that only observes.
func observer(of table: Table) throws -> Table {
  try Table.open(table.name, access: .observer, timeout: .seconds(600))
}

/// What a closure throws on purpose.
struct Stop: Error {}

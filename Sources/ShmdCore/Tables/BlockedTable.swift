import SharedTable

/// A configured table whose name a stranger has: not made, and tried for again each turn.
struct BlockedTable {
  let configuration: TableConfiguration
  /// Why not, as last said.
  var trouble: TableError.Code = .foreign

  var name: String { configuration.name }
}

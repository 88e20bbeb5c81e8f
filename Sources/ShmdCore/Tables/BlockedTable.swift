/// A configured table that cannot be had just now: tried for again in each round, while the others are kept.
struct BlockedTable {
  let configuration: TableConfiguration
  /// Why not, as last said.
  var trouble: Trouble

  var name: String { configuration.name }
}

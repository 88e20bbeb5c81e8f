/// What the daemon serves to Redis' clients, and where; the file's key `resp`.
struct RESPConfiguration: Sendable, Equatable {
  var listening = Listening()
  /// Names of configured tables, in the order of `SELECT`; nil: all, as they are listed.
  var tables: [String]?
  var users: [UInt32]?
  /// What they may do; nil: everything.
  var access: [ConfiguredRule]?

  /// Names of the tables that are served, in the order of `SELECT`.
  func tableNames(_ configured: [TableConfiguration]) -> [String] { tables ?? configured.map(\.name) }
}

/// The keys of `resp`.
enum RESPKeyword: String, CaseIterable, Sendable {
  case socket
  case mode
  case listen
  case tables
  case users
  case access
}

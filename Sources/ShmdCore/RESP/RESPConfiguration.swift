/// What the daemon serves to Redis' clients, and where; the file's key `resp`.
struct RESPConfiguration: Sendable, Equatable {
  /// A path, or ``Scalars/passed``.
  var socket: String?
  var mode: UInt32?
  var listen: (host: String, port: Int)?
  /// Names of configured tables, in the order of `SELECT`; nil: all, as they are listed.
  var tables: [String]?
  var users: [UInt32]?

  static func == (left: RESPConfiguration, right: RESPConfiguration) -> Bool {
    left.socket == right.socket && left.mode == right.mode && left.listen?.host == right.listen?.host
      && left.listen?.port == right.listen?.port && left.tables == right.tables && left.users == right.users
  }
}

/// The keys of `resp`.
enum RESPKeyword: String, CaseIterable, Sendable {
  case socket
  case mode
  case listen
  case tables
  case users
}

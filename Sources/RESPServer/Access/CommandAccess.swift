/// Which rights a command needs. Each command of the table says so.
enum CommandAccess: Sendable, Equatable {
  /// None: it tells of no table and of no other client, and changes nothing but its own connection.
  case free
  /// These to each key among its arguments.
  case keys(AccessRights)
  /// These to its first key, and these to its second.
  case pair(AccessRights, AccessRights)
  /// To write its key; with GET, to read it, too.
  case set
  /// To write its key; with a condition, to read it, too, as the answer tells when it expired.
  case expire
  /// To read some key of the table: only those are shown.
  case someKey
  /// These to all keys of the table.
  case wholeTable(AccessRights)
  /// To administer all tables.
  case server
  /// To read something, and of a key whose changes a channel tells, that key. The arguments from `first` on are channels.
  case channels(first: Int)
  /// These to some key of some table.
  case anyTable(AccessRights)
  /// To write something; to administer all tables for a channel on which clients take every message for the server's.
  case publish
}

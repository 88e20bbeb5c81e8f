/// A command that the server knows. A class, because each request passes it on: a copy of a struct would count the references of
/// its strings and lists.
final class Command: Sendable {
  /// How a command is carried out.
  enum Kind: Sendable {
    /// Without a table, by the connection.
    case connection(ConnectionCommand)
    /// In a read section, or in the barrier that runs.
    case read(ReadCommand)
    /// In a barrier.
    case write(WriteCommand)
  }

  /// In lower case.
  let name: String
  /// Arguments with the name: exactly so many; negative: at least.
  let arity: Int
  let kind: Kind
  /// Of one that is told apart by its second word, that says it.
  let access: CommandAccess
  /// As `COMMAND INFO` tells them.
  let flags: [String]
  /// First and last argument that is a key (negative: from the end), and the distance between two.
  let keys: (first: Int, last: Int, step: Int)
  let summary: String
  let group: String

  init(
    name: String, arity: Int, kind: Kind, access: CommandAccess, flags: [String],
    keys: (first: Int, last: Int, step: Int), summary: String, group: String
  ) {
    self.name = name
    self.arity = arity
    self.kind = kind
    self.access = access
    self.flags = flags
    self.keys = keys
    self.summary = summary
    self.group = group
  }

  func takes(_ count: Int) -> Bool { arity >= 0 ? count == arity : count >= -arity }

  /// The places of the keys among so many arguments; none if it takes no keys.
  func keyPlaces(of count: Int) -> StrideThrough<Int> {
    guard keys.step > 0 else { return stride(from: 1, through: 0, by: 1) }
    let last = keys.last < 0 ? count + keys.last : keys.last
    return stride(from: keys.first, through: min(last, count - 1), by: keys.step)
  }

  /// Whether it may take long by itself: in a large table, or with long values.
  var mayTakeLong: Bool {
    switch kind {
    case .read(let command): command.mayTakeLong
    // In a transaction it counts the keys that the transaction sees.
    case .connection(.dbsize): true
    case .connection, .write: false
    }
  }

  /// Whether it is done at once inside MULTI.
  var isOfTransactions: Bool {
    switch kind {
    case .connection(let command):
      switch command {
      case .exec, .discard, .multi, .watch, .reset, .quit: true
      default: false
      }
    default: false
    }
  }
}

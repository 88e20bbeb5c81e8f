/// Commands that are told apart by their second word, how many arguments each takes, and which rights it needs.
enum CommandWords {
  /// Fewest and most arguments, with both words, and the rights.
  private typealias Form = (least: Int, most: Int, access: CommandAccess)

  private static let forms: [String: [String: Form]] = [
    "acl": ["WHOAMI": (2, 2, .free)],
    "client": [
      "ID": (2, 2, .free), "GETNAME": (2, 2, .free), "SETNAME": (3, 3, .free), "SETINFO": (4, 4, .free),
      "INFO": (2, 2, .free), "LIST": (2, .max, .server), "NO-EVICT": (3, 3, .free), "NO-TOUCH": (3, 3, .free),
      "REPLY": (3, 3, .free), "KILL": (3, .max, .server), "TRACKING": (3, .max, .anyTable(.read)),
      "TRACKINGINFO": (2, 2, .free), "GETREDIR": (2, 2, .free),
    ],
    "config": ["GET": (3, .max, .free), "SET": (4, .max, .server), "RESETSTAT": (2, 2, .server)],
    "pubsub": [
      "CHANNELS": (2, 3, .anyTable(.read)), "NUMSUB": (2, .max, .channels(first: 2)),
      "NUMPAT": (2, 2, .anyTable(.read)),
    ],
    "function": ["FLUSH": (2, 3, .server)],
    "command": [
      "COUNT": (2, 2, .free), "INFO": (2, .max, .free), "DOCS": (2, .max, .free), "LIST": (2, 2, .free),
      "GETKEYS": (3, .max, .free),
    ],
  ]

  /// - Throws: if the second word is none, or takes another number of arguments.
  static func check(_ command: Command, _ request: Request) throws(CommandError) {
    guard request.count > 1, let words = forms[command.name] else { return }
    guard let (least, most, _) = words[request[1].uppercased] else {
      throw CommandError(
        "ERR unknown subcommand '", quoting: request[1], most: 128, "'. Try \(command.name.uppercased()) HELP.")
    }
    if request.count < least || request.count > most {
      throw .arity(name(of: command, request))
    }
  }

  /// The rights that a request needs: those of its second word, if it is told apart by it.
  static func access(of command: Command, _ request: Request) -> CommandAccess {
    guard case .connection = command.kind, request.count > 1, let words = forms[command.name] else {
      return command.access
    }
    return words[request[1].uppercased]?.access ?? command.access
  }

  /// With its second word, if it is told apart by it.
  static func name(of command: Command, _ request: Request) -> String {
    guard request.count > 1, forms[command.name] != nil else { return command.name }
    return "\(command.name)|\(request[1].lowercased)"
  }

  /// The second words of a command; none if it is not told apart by them.
  static func words(of command: Command) -> [String] { forms[command.name].map { Array($0.keys) } ?? [] }
}

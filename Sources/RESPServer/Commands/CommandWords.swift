/// Commands that are told apart by their second word, and how many arguments each takes.
enum CommandWords {
  /// Fewest and most arguments, with both words.
  private static let counts: [String: [String: (least: Int, most: Int)]] = [
    "client": [
      "ID": (2, 2), "GETNAME": (2, 2), "SETNAME": (3, 3), "SETINFO": (4, 4), "INFO": (2, 2), "LIST": (2, .max),
      "NO-EVICT": (3, 3), "NO-TOUCH": (3, 3), "REPLY": (3, 3), "KILL": (3, .max), "TRACKING": (3, .max),
      "TRACKINGINFO": (2, 2), "GETREDIR": (2, 2),
    ],
    "config": ["GET": (3, .max), "SET": (4, .max), "RESETSTAT": (2, 2)],
    "pubsub": ["CHANNELS": (2, 3), "NUMSUB": (2, .max), "NUMPAT": (2, 2)],
    "function": ["FLUSH": (2, 3)],
    "command": [
      "COUNT": (2, 2), "INFO": (2, .max), "DOCS": (2, .max), "LIST": (2, 2), "GETKEYS": (3, .max),
    ],
  ]

  /// - Throws: if the second word is none, or takes another number of arguments.
  static func check(_ command: Command, _ request: Request) throws(CommandError) {
    guard request.count > 1, let words = counts[command.name] else { return }
    guard let (least, most) = words[request[1].text.uppercased()] else {
      throw CommandError("ERR unknown subcommand '\(request[1].text)'. Try \(command.name.uppercased()) HELP.")
    }
    if request.count < least || request.count > most {
      throw .arity("\(command.name)|\(request[1].text.lowercased())")
    }
  }
}

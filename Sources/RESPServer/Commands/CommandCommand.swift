/// `COMMAND …`: what the server knows, for clients that ask.
enum CommandCommand {
  static func carryOut(_ request: Request, _ reply: inout Reply) throws(CommandError) {
    let all = CommandTable.shared.commands
    guard request.count > 1 else {
      reply.array(all.count)
      for command in all { describe(command, &reply) }
      return
    }
    let names = (2..<request.count).map { unsafe CommandTable.shared.find(request[$0])?.takeUnretainedValue() }
    if request[1].isWord("COUNT") {
      reply.integer(all.count)
    } else if request[1].isWord("INFO") {
      let commands = request.count == 2 ? all.map { $0 } : names
      reply.array(commands.count)
      for command in commands {
        if let command { describe(command, &reply) } else { reply.nullArray() }
      }
    } else if request[1].isWord("DOCS") {
      let commands = request.count == 2 ? all : names.compactMap { $0 }
      reply.map(commands.count)
      for command in commands { document(command, &reply) }
    } else if request[1].isWord("LIST") {
      reply.array(all.count)
      for command in all { reply.bulk(command.name) }
    } else {
      try keys(request, &reply)
    }
  }

  /// The ten parts of Redis 7; those that are for clusters and modules are empty.
  private static func describe(_ command: Command, _ reply: inout Reply) {
    reply.array(10)
    reply.bulk(command.name)
    reply.integer(command.arity)
    reply.set(command.flags.count)
    for flag in command.flags { reply.simple(flag) }
    for number in [command.keys.first, command.keys.last, command.keys.step] { reply.integer(number) }
    reply.set(1)
    reply.simple("@\(command.group)")
    for _ in 0..<3 { reply.array(0) }
  }

  private static func document(_ command: Command, _ reply: inout Reply) {
    reply.bulk(command.name)
    reply.map(3)
    for (key, value) in [("summary", command.summary), ("since", "1.0.0"), ("group", command.group)] {
      reply.bulk(key)
      reply.bulk(value)
    }
  }

  private static func keys(_ request: Request, _ reply: inout Reply) throws(CommandError) {
    guard let command = unsafe CommandTable.shared.find(request[2])?.takeUnretainedValue() else {
      throw CommandError("ERR Invalid command specified")
    }
    let count = request.count - 2
    guard command.takes(count) else {
      throw CommandError("ERR Invalid number of arguments specified for command")
    }
    guard command.keys.step > 0 else { throw CommandError("ERR The command has no key arguments") }
    let places = Array(command.keyPlaces(of: count))
    reply.array(places.count)
    for place in places { reply.bulk(request[place + 2]) }
  }
}

import ArgumentParser
import SharedTable

/// What a command takes, as its help says: there is one description of it, and this is read out of that.
struct CommandSyntax {
  struct Option {
    let name: String
    let takesValue: Bool
  }

  let options: [Option]

  /// - Parameter command: nil for what stands before a command's name.
  init(of command: String?) {
    let type = Shmctl.configuration.subcommands.first { $0.configuration.commandName == command } ?? Shmctl.self
    options = Shmctl.helpMessage(for: type, columns: 500).split(separator: "\n").flatMap(Self.options)
  }

  /// Those of a line such as `  -t, --table <name>    The table`.
  private static func options(in line: Substring) -> [Option] {
    guard line.hasPrefix("  -") else { return [] }
    var words: [Substring] = []
    // Behind two spaces stands what the option means.
    for word in line.dropFirst(2).split(separator: " ", omittingEmptySubsequences: false) {
      if word.isEmpty { break }
      words.append(word)
    }
    let takesValue = words.contains { $0.hasPrefix("<") }
    return words.filter { $0.hasPrefix("-") }.flatMap { word in
      word.split { $0 == "," || $0 == "/" }.map { Option(name: String($0), takesValue: takesValue) }
    }
  }

  func takesValue(_ option: String) -> Bool { options.contains { $0.name == option && $0.takesValue } }

  /// What can stand at a place of a command line.
  enum Place: Equatable {
    case commands, keys, tables, users, groups, files, nothing
    case words([String])
  }

  /// The value of an option.
  static func value(of option: String) -> Place {
    switch option {
    case "-t", "--table": .tables
    case "--trust": .users
    case "--group": .groups
    case "-o", "--output", "--file", "--svg": .files
    case "--prefix", "--key", "--keys": .keys
    case "--type": .words(ValueKind.allValueStrings)
    case "--variant", "--sync": .words(Table.Variant.allValueStrings)
    case "--stalled-reader": .words(Table.StalledReaderPolicy.allValueStrings)
    default: .nothing
    }
  }

  /// An argument of a command that is no option's value.
  /// - Parameter index: how many stand before it.
  static func argument(of command: String, at index: Int) -> Place {
    switch (command, index) {
    case (let name, _) where CommandWords.keyListCommands.contains(name): .keys
    case ("set", 0), ("edit", 0), ("incr", 0), ("append", 0), ("cas", 0), ("rename", 0...1), ("expire", 0):
      .keys
    case ("ls", 0), ("count", 0), ("watch", 0), ("wait", 0), ("log", 0): .keys
    case ("drop", 0), ("check", 0), ("repair", 0), ("resize", 0), ("doctor", 0), ("copy", 0...1): .tables
    case ("diff", 0...1): .tables
    case ("load", 0), ("batch", 0), ("transaction", 0): .files
    case ("import", 0), ("export", 0): .words(PlainForm.allValueStrings)
    case ("import", 1): .files
    case ("plot", 0): .words(Plot.Subject.allValueStrings)
    case ("upstream", 0): .words(UpstreamCommand.Action.allValueStrings)
    case ("help", 0): .commands
    default: .nothing
    }
  }
}

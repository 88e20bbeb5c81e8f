/// What helps with a command line that the parser refuses, beyond what it says itself.
struct UsageHint {
  private let words: CommandWords

  init(_ words: CommandWords) { self.words = words }

  private var command: String? { words.command.map { String(decoding: $0, as: UTF8.self) } }

  /// - Parameter summary: what the parser says, in a line.
  func text(for summary: String) -> String? {
    if summary.hasPrefix("Missing expected argument") { return dashedWord }
    let start = "Unexpected argument '"
    guard summary.hasPrefix(start), summary.hasSuffix("'") else { return nil }
    return tableName(String(summary.dropFirst(start.count).dropLast()))
  }

  /// A value that begins with a dash has been taken for an option, and is missing then.
  private var dashedWord: String? {
    let syntax = CommandSyntax(of: command)
    let options = words.forParser.prefix { $0 != "--" }.filter { $0.hasPrefix("-") && $0 != "-" }
    let unknown = options.last { word in
      let name = word.prefix { $0 != "=" }
      return !isKnown(String(name), syntax)
    }
    return unknown.map {
      "'\(String.printableStart(RawArgument.decode($0)))' was read as an option; put '--' before what begins with '-'"
    }
  }

  /// Short options may be joined, the last one with its value; the parser knows some long ones that the help does not show.
  private func isKnown(_ word: String, _ syntax: CommandSyntax) -> Bool {
    if syntax.options.contains(where: { $0.name == word }) || word == "--trusting" { return true }
    guard !word.hasPrefix("--"), let first = word.dropFirst().first else { return false }
    return word.count > 2 && syntax.options.contains { $0.name == "-\(first)" }
  }

  /// Commands that take no argument, and are about the table of `-t`.
  private static let aboutTableOfOption: Swift.Set<String> = ["stat", "clients", "dump"]

  private func tableName(_ word: String) -> String? {
    guard let command else { return nil }
    let shown = String.printableStart(RawArgument.decode(word))
    if Self.aboutTableOfOption.contains(command) { return "a table is named by -t: 'shmctl \(command) -t \(shown)'" }
    if command == "tables" { return "it lists all; of one table 'shmctl stat -t \(shown)' says more" }
    return nil
  }
}

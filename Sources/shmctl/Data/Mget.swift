import ArgumentParser
import SharedTable
import ToolSupport

struct Mget: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mget", abstract: "Print keys with their values.",
    discussion: """
      A line each: the key, a tab, the value; \\t, \\n, \\r and \\\\ stand for a tab, the ends of lines and a backslash in \
      them, so that 'mset -' reads it back. With -0 instead the key, a zero byte, the value, a zero byte. A key that is not \
      found has no line, and the exit status is 1. The keys of the command line are of one snapshot.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "End keys and values, and keys on standard input, with a zero byte.")
  var null = false

  @Argument(help: ArgumentHelp("Keys, or - for those on standard input.", valueName: "key"))
  var keys: [KeyWords]

  func run(on table: Table) throws {
    let onTerminal = StandardOutput.isTerminal && !null
    try keys.forEach(zeroTerminated: null, options, table) { keys in
      try table.read { view in try keys.map { try view.entry(forKey: $0) } }
    } isThere: { entry in
      entry != nil
    } text: { key, entry in
      if let entry { return line(key, entry, onTerminal) }
      return options.json ? ValueForm(options, null: null, raw: true).text(ofMissing: key, among: true) : []
    }
  }

  private func line(_ key: [UInt8], _ entry: TableEntry, _ onTerminal: Bool) -> [UInt8] {
    if options.json { return entry.line(key) }
    if null { return key + [0] + entry.text + [0] }
    if onTerminal { return Array("\(String.printable(key))\t\(entry.shown)\n".utf8) }
    return TabbedText.line(key, entry.text)
  }
}

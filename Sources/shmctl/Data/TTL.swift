import ArgumentParser
import SharedTable
import ToolSupport

struct TTL: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ttl", abstract: "Print how long keys have to live.",
    discussion: """
      A line each: a time as --ttl takes it, such as 1799s or 850ms; 'never' for a key that stays; 'none' for one that is \
      not found, and exit 1.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "Keys on standard input end with a zero byte.")
  var null = false

  @Argument(help: ArgumentHelp("Keys, or - for those on standard input.", valueName: "key"))
  var keys: [KeyWords]

  func run(on table: Table) throws {
    try keys.forEach(zeroTerminated: null, options, table) { keys in
      try table.read { view in try keys.map { try view.entry(forKey: $0) } }
    } isThere: { entry in
      entry != nil
    } text: { key, entry in
      line(key, entry)
    }
  }

  private func line(_ key: [UInt8], _ entry: TableEntry?) -> [UInt8] {
    guard options.json else {
      return Array("\(entry.map { $0.expiry.map(TimeLeft.text(until:)) ?? "never" } ?? "none")\n".utf8)
    }
    var object = JSONObject()
    object.add("key", bytes: key)
    object.add("found", entry != nil)
    if let expiry = entry?.expiry { object.add(expiry: expiry) }
    return object.line
  }
}

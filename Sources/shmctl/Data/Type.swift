import ArgumentParser
import SharedTable
import ToolSupport

struct Type: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "type", abstract: "Print the types of keys.",
    discussion: """
      A line each: string, bytes, integer, double, bool, json or struct; of a collection's name what the collection is, such \
      as 'dictionary of string to integer', and behind an element's type a tab and 'in' its collection; 'none' for a key \
      that is not found, and exit 1.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "Keys on standard input end with a zero byte.")
  var null = false

  @Argument(help: ArgumentHelp("Keys, or - for those on standard input.", valueName: "key"))
  var keys: [KeyWords]

  func run(on table: Table) throws {
    try keys.forEach(zeroTerminated: null, options, table) { keys in
      try table.read { view in try keys.map { key in (try view.entry(forKey: key), try view.collection(of: key)) } }
    } isThere: { entry, _ in
      entry != nil
    } text: { key, found in
      line(key, found.0, found.1)
    }
  }

  private func line(_ key: [UInt8], _ entry: TableEntry?, _ collection: CollectionMembership?) -> [UInt8] {
    let type = entry.map { $0.type?.name ?? "unknown" }
    if options.json {
      var object = JSONObject()
      object.add("key", bytes: key)
      object.add("found", entry != nil)
      if let type { object.add("type", type) }
      if let collection { object.add(collection: collection) }
      return object.line
    }
    guard let type else { return Array("none\n".utf8) }
    guard let collection else { return Array("\(type)\n".utf8) }
    let text = collection.isHeader ? collection.kind : "\(type)\tin \(String.printable(collection.name))"
    return Array("\(text)\n".utf8)
  }
}

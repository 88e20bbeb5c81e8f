import ArgumentParser
import SharedTable

struct Getdel: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "getdel", abstract: "Print the values of keys and remove them.",
    discussion: """
      In one barrier: of several processes that take a key, one gets it. Prints as 'get' does. The keys are gone before their \
      values are printed. Exit 1 if any is not found.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "End each value, and each key on standard input, with a zero byte.")
  var null = false

  @Flag(help: "Print values as they are, on a terminal too.")
  var raw = false

  @Flag(help: "Allow keys that belong to a collection; this damages the collection.")
  var force = false

  @Argument(help: ArgumentHelp("Keys, or - for those on standard input.", valueName: "key"))
  var keys: [KeyWords]

  func run(on table: Table) throws {
    let form = ValueForm(options, null: null, raw: raw)
    let areSeveral = keys.areSeveral
    try keys.forEach(zeroTerminated: null, options, table) { keys in
      try KeyChange(table, force: force).run(keys) { tx in
        var taken: [TableEntry?] = []
        for key in keys {
          taken.append(try tx.entry(forKey: key))
          try tx.remove(key)
        }
        return taken
      }
    } isThere: { entry in
      entry != nil
    } text: { key, entry in
      entry.map { form.text(of: $0, key, among: areSeveral) } ?? form.text(ofMissing: key, among: areSeveral)
    }
  }
}

import ArgumentParser
import SharedTable

struct Persist: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "persist", abstract: "Let keys stay that would end by themselves.",
    discussion: "Their values and types stay. Exit 1 if any is not found.")

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "Keys on standard input end with a zero byte.")
  var null = false

  @Flag(help: "Also keys that belong to a collection.")
  var force = false

  @Argument(help: ArgumentHelp("Keys, or - for those on standard input.", valueName: "key"))
  var keys: [KeyWords]

  func run(on table: Table) throws {
    try keys.forEach(zeroTerminated: null, options, table, field: "found") { keys in
      try KeyChange(table, force: force).run(keys) { tx in
        var found: [Bool] = []
        for key in keys {
          // What has no expiry is not written anew.
          if let entry = try tx.entry(forKey: key), entry.expiry == nil {
            found.append(true)
          } else {
            found.append(try tx.setExpiration(.never, of: key))
          }
        }
        return found
      }
    }
  }
}

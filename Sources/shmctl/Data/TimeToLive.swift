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

struct Expire: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire", abstract: "Let a key end by itself after a time.",
    discussion: "Its value and type stay. Exit 1 if there is no such key.")

  @OptionGroup var options: CommonOptions

  @Flag(help: "Also if the key belongs to a collection, which is damaged when the key ends.")
  var force = false

  @Argument(help: "The key.")
  var key: RawArgument

  @Argument(help: "After 500ms, 30s or 30, 5m, 1h or 2d.")
  var time: TimeSpan

  func validate() throws {
    if time.milliseconds == 0 { throw ValidationError("the time must be more than nothing; 'del' removes a key") }
  }

  func run(on table: Table) throws {
    let isThere = try KeyChange(table, force: force).run([key.bytes]) { tx in
      try tx.setExpiration(.after(time.duration), of: key.bytes)
    }
    if options.json {
      var object = JSONObject()
      object.add("key", bytes: key.bytes)
      object.add("found", isThere)
      try StandardOutput.write(object.line)
    }
    var misses = Misses()
    if !isThere { misses.add(key.bytes, options, table) }
    try misses.end()
  }
}

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

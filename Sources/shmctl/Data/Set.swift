import ArgumentParser
import SharedTable
import ToolSupport

struct Set: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Store a value.",
    discussion: """
      A value that is UTF-8 is stored as a string, any other as bytes, unless a type is given. A value of '-' is read from \
      standard input, every byte of it; behind '--' it is a dash. Exit 1 if a condition was not met, and nothing was stored.

      A number or a bool that is overwritten without a type becomes a string, which is said on standard error: a program that counts on the \
      type cannot read it any more.

      A key's time to live ends with its old value, which is said on standard error, unless --ttl gives another, --keep-ttl \
      keeps it or --persist says that none is wanted. A key of a collection is refused without --force.

      EXAMPLES
        shmctl set greeting hello
        shmctl set hits 5 --int
        shmctl set config --file config.json --json
        shmctl set lock $$ --if-absent --ttl 30s
      """)

  @OptionGroup var options: CommonOptions
  @OptionGroup var valueOptions: ValueOptions

  @Option(help: ArgumentHelp("Remove it by itself after 500ms, 30s or 30, 5m, 1h or 2d.", valueName: "time"))
  var ttl: TimeSpan?

  @Flag(name: .customLong("keep-ttl"), help: "The key keeps the time to live that it has.")
  var keepTTL = false

  @Flag(help: "The key stays until it is removed.")
  var persist = false

  @Flag(help: "Only if there is no such key.")
  var ifAbsent = false

  @Flag(help: "Only if there is such a key.")
  var ifPresent = false

  @Option(help: ArgumentHelp("Only if the value is of this version, as 'get --json' shows it.", valueName: "version"))
  var ifVersion: UInt64?

  @Flag(name: .customLong("get"), help: "Print the value that was there before.")
  var printsOld = false

  @Option(help: ArgumentHelp("Store this file's contents; - for standard input.", valueName: "path"))
  var file: RawArgument?

  @Flag(help: "Allow a key that belongs to a collection; this damages the collection.")
  var force = false

  @Flag(
    help:
      "Return when it is on the disk, where shmd stores the table (its 'durability'); exit 11: it is in the table, and not known to be on the disk."
  )
  var sync = false

  @Argument(help: "1 to 65536 bytes.")
  var key: RawArgument

  @Argument(help: "The value, or - for standard input.")
  var value: RawArgument?

  func validate() throws {
    if [ifAbsent, ifPresent, ifVersion != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--if-absent, --if-present and --if-version exclude each other")
    }
    if [ttl != nil, keepTTL, persist].count(where: { $0 }) > 1 {
      throw ValidationError("--ttl, --keep-ttl and --persist exclude each other")
    }
    if let ttl, ttl.milliseconds == 0 { throw ValidationError("--ttl must be more than nothing; 'del' removes a key") }
    if value == nil, file == nil { throw ValidationError("Missing expected argument '<value>'") }
    if value != nil, file != nil { throw ValidationError("the value is given twice: as an argument and by --file") }
  }

  func run(on table: Table) throws {
    let input = try file.map { try ValueSource.bytes(ofFile: $0, for: table) }
    let bytes = try input ?? value.map { try ValueSource.bytes($0, for: table) } ?? []
    let outcome = try store(try TypedValue(bytes, as: valueOptions.asked), in: table)
    if outcome.isStored { noteLosses(outcome.old, table) } else { options.note(table, unmet) }
    let version = table.version
    // Before the wait, which may fail: the old value is nowhere else by now.
    try print(outcome)
    if sync, outcome.isStored { try waitForDisk(version, table) }
    if !outcome.isStored { throw ExitStatus.notFound }
  }

  /// Any other status than that of `notDurable` would say that nothing was stored, and who runs the command again would store the value twice.
  private func waitForDisk(_ version: UInt64, _ table: Table) throws {
    do throws(TableError) { try table.waitUntilDurable(version) } catch {
      if error.code == .notDurable { throw error }
      throw Complaint(
        .failure, table: table.name, "it is in the table, and not known to be on the disk: \(error.message)")
    }
  }

  /// Says what the old value had and the new one has not, though nobody asked for that.
  private func noteLosses(_ old: TableEntry?, _ table: Table) {
    if old?.expiry != nil, ttl == nil, !keepTTL, !persist {
      options.note(
        table, "key '\(key.shown)' has lost its time to live; --keep-ttl keeps it, --persist says that none is wanted")
    }
    if valueOptions.asked == nil, let type = old?.type, type.isScalar {
      let flag = type == .integer ? "--int" : "--\(type.name)"
      options.note(
        table,
        "key '\(key.shown)' is of type \(type.name) no more, as programs may expect; \(flag) stores a value of that type"
      )
    }
  }

  private struct Outcome {
    let isStored: Bool
    let old: TableEntry?
  }

  private func store(_ value: TypedValue, in table: Table) throws -> Outcome {
    try KeyChange(table, force: force).run([key.bytes]) { tx in
      let old = try tx.entry(forKey: key.bytes)
      guard holds(old) else { return Outcome(isStored: false, old: old) }
      let kept = keepTTL ? old?.expiration : nil
      try tx.set(key.bytes, value, expires: ttl.map { .after($0.duration) } ?? kept ?? .never)
      return Outcome(isStored: true, old: old)
    }
  }

  private func holds(_ old: TableEntry?) -> Bool {
    if let ifVersion { return old?.version == ifVersion }
    return ifAbsent ? old == nil : ifPresent ? old != nil : true
  }

  private func print(_ outcome: Outcome) throws {
    var output = OutputBuffer()
    if options.json {
      var object = JSONObject()
      object.add("key", bytes: key.bytes)
      object.add("stored", outcome.isStored)
      if printsOld {
        if let old = outcome.old { object.add("old", raw: old.object.text) } else { object.addNull("old") }
      }
      try output.append(object.line)
    } else if printsOld, let old = outcome.old {
      try output.append(ValueForm(options, null: false, raw: false).text(of: old, key.bytes, among: false))
    }
    try output.flush()
  }

  private var unmet: String {
    if let ifVersion { return "key '\(key.shown)' is not of version \(ifVersion); read it again" }
    return ifAbsent
      ? "key '\(key.shown)' exists already; nothing was stored" : "no key '\(key.shown)'; nothing was stored"
  }
}

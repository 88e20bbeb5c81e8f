import ArgumentParser
import SharedTable
import ToolSupport

struct Set: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Store a value.",
    discussion: """
      A value that is UTF-8 is stored as a string, any other as bytes, unless --type says otherwise. A value of '-' \
      is read from standard input, every byte of it. Exit 1 if a condition was not met, and nothing was stored.
      """)

  @OptionGroup var options: CommonOptions

  @Option(help: ArgumentHelp("Remove it by itself after 500ms, 30s, 5m, 1h or 2d.", valueName: "time"))
  var ttl: TimeSpan?

  @Flag(help: "Only if there is no such key.")
  var ifAbsent = false

  @Flag(help: "Only if there is such a key.")
  var ifPresent = false

  @Option(help: ArgumentHelp("Only if the value is of this version, as 'get --json' shows it.", valueName: "version"))
  var ifVersion: UInt64?

  @Flag(help: "Return when it is on the disk, where shmd stores the table (its 'durability').")
  var sync = false

  @Option(help: "The value's type.")
  var type: ValueKind?

  @Argument(help: "1 to 65536 bytes.")
  var key: RawArgument

  @Argument(help: "The value, or - for standard input.")
  var value: RawArgument

  func validate() throws {
    if (ifAbsent ? 1 : 0) + (ifPresent ? 1 : 0) + (ifVersion != nil ? 1 : 0) > 1 {
      throw ValidationError("--if-absent, --if-present and --if-version exclude each other")
    }
    if let ttl, ttl.milliseconds == 0 { throw ValidationError("--ttl must be more than nothing; 'del' removes a key") }
  }

  func run(on table: Table) throws {
    let value = try TypedValue(try input(table), as: type)
    guard try store(value, in: table) else {
      options.note(table, unmet)
      if options.json { try StandardOutput.write(result(stored: false).line) }
      throw ExitStatus.notFound
    }
    if sync { try table.waitUntilDurable(table.version) }
    if options.json { try StandardOutput.write(result(stored: true).line) }
  }

  private func input(_ table: Table) throws -> [UInt8] {
    guard value.isDash else { return value.bytes }
    let limit = table.maximumValueLength
    let bytes = try Descriptor.readAll(0, limit: limit)
    if bytes.count > limit {
      throw TableError(
        .tooLarge, table: table.name,
        "standard input has more than the \(limit) bytes that this table takes; store it in parts, or make a table "
          + "of more capacity")
    }
    return bytes
  }

  private func store(_ value: TypedValue, in table: Table) throws(TableError) -> Bool {
    let expires = ttl.map { Expiration.after($0.duration) } ?? .never
    return switch value {
    case .string(let text): try table.set(key.bytes, text, expires: expires, condition)
    case .bytes(let bytes): try table.set(key.bytes, bytes, expires: expires, condition)
    case .integer(let number): try table.set(key.bytes, number, expires: expires, condition)
    case .double(let number): try table.set(key.bytes, number, expires: expires, condition)
    case .bool(let flag): try table.set(key.bytes, flag, expires: expires, condition)
    case .json(let text): try table.set(key.bytes, bytes: text, type: .json, expires: expires, condition)
    }
  }

  private var condition: Table.Condition {
    if let ifVersion { return .ifVersion(ifVersion) }
    return ifAbsent ? .ifAbsent : ifPresent ? .ifPresent : .always
  }

  private var unmet: String {
    if let ifVersion { return "key '\(key.shown)' is not of version \(ifVersion); read it again" }
    return ifAbsent
      ? "key '\(key.shown)' exists already; nothing was stored" : "no key '\(key.shown)'; nothing was stored"
  }

  private func result(stored: Bool) -> JSONObject {
    var object = JSONObject()
    object.add("key", bytes: key.bytes)
    object.add("stored", stored)
    return object
  }
}

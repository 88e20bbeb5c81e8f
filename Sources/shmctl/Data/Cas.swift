import ArgumentParser
import SharedTable
import ToolSupport

struct Cas: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cas", abstract: "Replace a value if it is still what it was: compare and set.",
    discussion: """
      The old value is given as 'get' prints it. The new one has the old one's type, unless another is asked for; the key's \
      time to live stays. Exit 1 if the value is another, or there is none. 'set --if-version' compares versions instead.
      """)

  @OptionGroup var options: CommonOptions
  @OptionGroup var valueOptions: ValueOptions

  @Flag(help: "Allow a key that belongs to a collection; this damages the collection.")
  var force = false

  @Argument(help: "The key.")
  var key: RawArgument

  @Argument(help: "The value that must be there.")
  var old: RawArgument

  @Argument(help: "The value to store, or - for standard input.")
  var value: RawArgument

  func run(on table: Table) throws {
    let bytes = try ValueSource.bytes(value, for: table)
    let isStored = try KeyChange(table, force: force).run([key.bytes]) { tx in
      guard let entry = try tx.entry(forKey: key.bytes), entry.text == old.bytes else { return false }
      let new = try TypedValue(bytes, as: valueOptions.asked ?? ValueKind(entry.type))
      try tx.set(key.bytes, new, expires: entry.expiration)
      return true
    }
    if options.json {
      var object = JSONObject()
      object.add("key", bytes: key.bytes)
      object.add("stored", isStored)
      try StandardOutput.write(object.line)
    }
    if isStored { return }
    options.note(table, "the value of '\(key.shown)' is not what was expected; read it again")
    throw ExitStatus.notFound
  }
}

extension ValueKind {
  /// The kind of a stored value; nil where the command line has none.
  init?(_ type: ValueType?) {
    switch type {
    case .string: self = .string
    case .bytes: self = .bytes
    case .integer: self = .integer
    case .double: self = .double
    case .bool: self = .bool
    case .json: self = .json
    case .structure, nil: return nil
    }
  }
}

import ArgumentParser
import SharedTable
import ToolSupport

struct Append: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "append", abstract: "Add to the end of a string or of bytes, and print the new length.",
    discussion: """
      A key that is not there counts as empty. The type and the time to live stay; a string that something is added to \
      that is no UTF-8, and a value of another type, stay as they are, and exit 10.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Also if the key belongs to a collection, which is damaged by it.")
  var force = false

  @Argument(help: "The key.")
  var key: RawArgument

  @Argument(help: "What to add, or - for standard input.")
  var value: RawArgument

  func run(on table: Table) throws {
    let more = try ValueSource.bytes(value, for: table)
    let length = try KeyChange(table, force: force).run([key.bytes]) { tx in
      let old = try tx.entry(forKey: key.bytes)
      let bytes = (old?.bytes ?? []) + more
      try tx.set(key.bytes, try joined(bytes, old, table), expires: old?.expiration ?? .never)
      return bytes.count
    }
    guard options.json else { return try StandardOutput.write(line: String(length)) }
    var object = JSONObject()
    object.add("key", bytes: key.bytes)
    object.add("valueBytes", length)
    try StandardOutput.write(object.line)
  }

  private func joined(_ bytes: [UInt8], _ old: TableEntry?, _ table: Table) throws -> TypedValue {
    switch old?.type {
    case .bytes: return .bytes(bytes)
    case .string where String(validating: bytes, as: UTF8.self) == nil:
      throw refusal("is a string, and with this behind it no UTF-8 any more; set it anew with --bytes", table)
    case .string: return try TypedValue(bytes, as: .string)
    default:
      if old == nil { return try TypedValue(bytes, as: nil) }
      throw refusal("is of type \(old?.type?.name ?? "unknown"), which nothing can be added to; set it anew", table)
    }
  }

  private func refusal(_ what: String, _ table: Table) -> Complaint {
    Complaint(.wrongType, table: table.name, "the value of '\(key.shown)' \(what)")
  }
}

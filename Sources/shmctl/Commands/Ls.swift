import ArgumentParser
import SharedTable
import ToolSupport

struct Ls: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List the keys, sorted bytewise.",
    discussion: "On a terminal control characters are shown as \\xNN. With --json an object for each key.")

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "End each key with a zero byte, for 'xargs -0'.")
  var null = false

  @Argument(help: "Only keys that begin with this.")
  var prefix: RawArgument?

  private struct Listed {
    let key: [UInt8]
    let type: ValueType?
    let byteCount: Int
    let version: UInt64
    let expiry: UInt64?
  }

  func run(on table: Table) throws {
    var output: [UInt8] = []
    for listed in try list(table) { output += line(listed) }
    try StandardOutput.write(output)
  }

  private func list(_ table: Table) throws -> [Listed] {
    var found: [Listed] = []
    try table.read { view in
      try view.forEach(prefix: prefix?.bytes ?? []) { key, entry in
        found.append(
          Listed(
            key: unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }, type: entry.type,
            byteCount: entry.bytes.byteCount, version: entry.version, expiry: entry.expiry))
      }
    }
    return found.sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  private func line(_ listed: Listed) -> [UInt8] {
    guard options.json else {
      if null { return listed.key + [0] }
      let end = [UInt8(ascii: "\n")]
      guard StandardOutput.isTerminal else { return listed.key + end }
      return Array(StandardError.printable(String(decoding: listed.key, as: UTF8.self)).utf8) + end
    }
    var object = JSONObject()
    object.add("key", bytes: listed.key)
    object.add("type", listed.type?.name ?? "unknown")
    object.add("valueBytes", listed.byteCount)
    object.add("version", listed.version)
    if let expiry = listed.expiry { object.add("expiryMilliseconds", expiry / 1_000_000) }
    return object.line
  }
}

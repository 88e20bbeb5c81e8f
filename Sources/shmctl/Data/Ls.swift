import ArgumentParser
import SharedTable
import ToolSupport

struct Ls: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List the keys.",
    discussion: """
      On a terminal sorted bytewise, with control characters as \\xNN. In a pipe or file as the table has them and as they \
      are found, in little memory, however many there are; --sort sorts them there, too. A key that is there all the time is \
      listed once, one that is stored or removed meanwhile may be missing; --sort lists one snapshot.

      --long: type, bytes of the value, version, time left, collection, key, with tabs between; in a pipe or file \\t, \\n, \\r and \\\\ in \
      the key are written as by 'mget', unless -0 is given. With --json an object for \
      each key, as shmctl-json.md of the documentation says (in the package below /usr/share/doc/shmctl).
      """)

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "End each key with a zero byte, for 'xargs -0' and 'shmctl get -0 -'.")
  var null = false

  @Flag(name: .shortAndLong, help: "Show type, size, version, time left and collection, too.")
  var long = false

  @Flag(inversion: .prefixedNo, help: "Sort the keys (on a terminal: the default).")
  var sort: Bool?

  @Option(help: ArgumentHelp("List so many at most.", valueName: "count"))
  var limit: Int?

  @OptionGroup var filter: KeyFilter

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more") }
  }

  func run(on table: Table) throws {
    var output = OutputBuffer()
    let printer = KeyPrinter(json: options.json, null: null, long: long)
    if sort ?? StandardOutput.isTerminal {
      for key in try sorted(table).prefix(limit ?? .max) { try output.append(printer.line(key)) }
    } else if long || options.json || StandardOutput.isTerminal {
      try stream(table, printer, to: &output)
    } else {
      try streamKeys(table, to: &output)
    }
    try output.flush()
  }

  private func sorted(_ table: Table) throws -> [ListedKey] {
    let (prefix, pattern, isDetailed) = (filter.wantedPrefix, filter.pattern, long || options.json)
    var found: [ListedKey] = []
    try table.read { view in
      try view.forEach(prefix: prefix) { key, entry in
        let key = unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }
        if pattern?.matches(key) ?? true {
          found.append(ListedKey(key, entry, collection: isDetailed ? try view.collection(of: key) : nil))
        }
      }
    }
    return found.sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  /// As they lie in the table, without a copy of each.
  private func streamKeys(_ table: Table, to output: inout OutputBuffer) throws {
    let (prefix, pattern, end) = (filter.wantedPrefix, filter.pattern, null ? 0 : UInt8(ascii: "\n"))
    var left = limit ?? .max
    var cursor = KeyCursor()
    while !cursor.isAtEnd, left > 0 {
      var text: [UInt8] = []
      try table.read { view in
        try view.forEach(from: &cursor, prefix: prefix) { key, _ in
          unsafe key.withUnsafeBytes { key in
            guard left > 0, unsafe pattern?.matches([UInt8](key)) ?? true else { return }
            unsafe text.append(contentsOf: key)
            text.append(end)
            left -= 1
          }
        }
      }
      try output.append(text)
      // What was found is shown, however long the rest takes.
      try output.flush()
    }
  }

  private func stream(_ table: Table, _ printer: KeyPrinter, to output: inout OutputBuffer) throws {
    var left = limit ?? .max
    let isDetailed = long || options.json
    try table.forEachPart(of: filter) { key, entry, view in
      ListedKey(key, entry, collection: isDetailed ? try view.collection(of: key) : nil)
    } _: { part in
      for key in part.prefix(left) { try output.append(printer.line(key)) }
      left -= min(left, part.count)
      // What was found is shown, however long the rest takes.
      try output.flush()
      return left > 0
    }
  }
}

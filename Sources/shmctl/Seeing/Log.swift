import ArgumentParser
import SharedTable
import ToolSupport

struct Log: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Print a table's recent changes: version, operation, size, key.",
    discussion: """
      The table keeps which keys changed, in a ring of 1/64 of its capacity, 256 KiB to 64 MiB; the oldest go first. The \
      values are not kept: a size stands where the key still has the value of that change, '-' where it was changed \
      again. A line 'missed N' stands for changes that were overwritten before they could be read. All changes of one \
      version were made together.
      """)

  @OptionGroup var options: CommonOptions

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The last so many changes; 20 if not given, 0: all that are kept.", valueName: "count"))
  var number: Int?

  @Option(help: ArgumentHelp("Changes after this version instead.", valueName: "version"))
  var from: UInt64?

  @Flag(
    name: .shortAndLong, help: "Go on with new changes as they come; with --timeout no longer than that, then exit 7.")
  var follow = false

  @Argument(help: "Only keys that begin with this.")
  var prefix: RawArgument?

  func validate() throws {
    if let number, number < 0 { throw ValidationError("-n takes 0 or more") }
    if number != nil, from != nil { throw ValidationError("--from shows all changes after a version: leave -n out") }
  }

  func run(on table: Table) throws {
    let limit = TimeLimit(options, table)
    var scan = ChangeScan(of: table, after: from ?? 0, prefix: prefix?.bytes ?? [])
    var recent: [TableChange] = []
    let number = from == nil ? number ?? 20 : 0
    let newest = table.version
    var next: TableChange?
    while let change = try scan.next() {
      // What comes meanwhile is for one who follows: beside writers that are as fast, the log has no end.
      if let version = change.version, version > newest {
        next = change
        break
      }
      recent.append(change)
      // Halved at times, so that a long log costs no more than its last lines. No sum of `number`: it may be the largest.
      if number > 0, (recent.count - 1024) / 2 >= number { recent.removeFirst(recent.count - number) }
    }
    // What the log lost before it begins is news only to one who asked for a version.
    if from == nil { recent.removeFirst(recent.firstIndex { $0.version != nil } ?? recent.count) }
    if number > 0 { recent = recent.suffix(number) }
    try StandardOutput.write(try recent.flatMap { try line($0, table) })
    guard follow else { return }
    while true {
      var lines = try next.map { try line($0, table) } ?? []
      next = nil
      while lines.count < 1 << 16, let change = try scan.next() { lines += try line(change, table) }
      try StandardOutput.write(lines)
      let left = try limit.left(atMost: .seconds(1))
      if lines.isEmpty { _ = try table.waitForCommit(after: scan.version, timeout: left) }
    }
  }

  private func line(_ change: TableChange, _ table: Table) throws -> [UInt8] {
    var object = JSONObject()
    object.add("table", table.name)
    let text: String
    switch change {
    case .missed(let count):
      object.add("operation", "missed")
      object.add("count", count)
      text = "missed \(count)"
    case .removed(let key, let version):
      object.add("version", version)
      object.add("operation", "remove")
      object.add("key", bytes: key)
      text = Self.columns(version, "remove", "-", key)
    case .set(let key, let version):
      // Copied out whole, which a few lines can afford.
      let entry = try table.entry(forKey: key)
      let size = entry?.version == version ? entry?.bytes.count : nil
      object.add("version", version)
      object.add("operation", "set")
      object.add("key", bytes: key)
      if let size { object.add("valueBytes", size) } else { object.addNull("valueBytes") }
      text = Self.columns(version, "set", size.map { "\($0)" } ?? "-", key)
    }
    return options.json ? object.line : Array((text + "\n").utf8)
  }

  private static func columns(_ version: UInt64, _ operation: String, _ size: String, _ key: [UInt8]) -> String {
    func padded(_ text: String, _ width: Int, atLeft: Bool) -> String {
      let room = String(repeating: " ", count: max(0, width - text.count))
      return atLeft ? room + text : text + room
    }
    return padded("\(version)", 10, atLeft: true) + "  " + padded(operation, 6, atLeft: false) + "  "
      + padded(size, 9, atLeft: true) + "  " + String.printable(key)
  }
}

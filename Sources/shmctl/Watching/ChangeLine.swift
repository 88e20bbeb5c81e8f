import SharedTable
import ToolSupport

/// A change as it is told: for people, as JSON, and to a command.
struct ChangeLine {
  private let change: TableChange
  /// As it is now: of the change's version or a later one; nil if the key is gone.
  let value: TableEntry?
  /// Of a mirror's status: what it says.
  private let upstream: UpstreamReport?

  init(_ change: TableChange, _ value: TableEntry?, isOfMirror: Bool) {
    self.change = change
    if case .set = change { self.value = value } else { self.value = nil }
    let isStatus = isOfMirror && change.key == Array(Table.Upstream.key.utf8)
    upstream = isStatus ? self.value.flatMap { UpstreamReport(entry: $0) } : nil
  }

  private var event: String {
    switch change {
    case .set: "set"
    case .removed: "removed"
    case .missed: "missed"
    }
  }

  var text: [UInt8] {
    switch change {
    case .missed(let count): return Array("missed \(count): more changed than the table's log keeps\n".utf8)
    case .set(let key, let version), .removed(let key, let version):
      var line = Array("\(version) \(event) ".utf8) + WordLine.escaped(key)
      if let upstream {
        line += Array(" revision \(upstream.revision) \(upstream.state)".utf8)
      } else if let value {
        line += [UInt8(ascii: " ")] + WordLine.escaped(value.text)
      }
      return line + [UInt8(ascii: "\n")]
    }
  }

  var json: [UInt8] {
    var object = JSONObject()
    object.add("event", event)
    if case .missed(let count) = change { object.add("count", count) }
    if let key = change.key { object.add("key", bytes: key) }
    if let version = change.version { object.add("changeVersion", version) }
    if let value { value.describe(in: &object) }
    if let upstream {
      var members = JSONObject()
      upstream.add(to: &members)
      object.add("upstream", raw: members.text)
    }
    return object.line
  }

  private static let longestValue = 65_536

  /// Runs a shell command for it. One that fails is told of and ends nothing.
  func run(_ command: RawArgument, _ table: Table, _ options: CommonOptions) throws {
    var variables = [("SHM_TABLE", Array(table.name.utf8)), ("SHM_EVENT", Array(event.utf8))]
    // What a variable cannot hold is not given.
    if let key = change.key, !key.contains(0) { variables.append(("SHM_KEY", key)) }
    if let version = change.version { variables.append(("SHM_VERSION", Array(String(version).utf8))) }
    if let text = value?.text, text.count <= Self.longestValue, !text.contains(0) {
      variables.append(("SHM_VALUE", text))
    }
    // A loop of the shell that reads this command's lines from the same input keeps them.
    let child = ChildProcess(
      words: [Array("/bin/sh".utf8), Array("-c".utf8), command.bytes],
      additions: variables.map { (name: $0.0, value: $0.1) }, hasNoInput: true)
    let status = try child.run()
    if status != 0, !options.quiet {
      StandardError.write("the command of --exec ended with status \(status); the watch goes on")
    }
  }
}

import ArgumentParser
import SharedTable
import ToolSupport

struct Count: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Print the number of keys.",
    discussion: "Counts what 'ls' would list, so it looks at the whole table; 'stat' has a quick figure.")

  @OptionGroup var options: CommonOptions
  @OptionGroup var filter: KeyFilter

  func run(on table: Table) throws {
    let (prefix, pattern) = (filter.wantedPrefix, filter.pattern)
    let count = try table.read { view in
      if prefix.isEmpty, pattern == nil { return try view.count() }
      var count = 0
      try view.forEach(prefix: prefix) { key, _ in
        if let pattern, !pattern.matches(unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }) { return }
        count += 1
      }
      return count
    }
    guard options.json else { return try StandardOutput.write(line: String(count)) }
    var object = JSONObject()
    object.add("keys", count)
    try StandardOutput.write(object.line)
  }
}

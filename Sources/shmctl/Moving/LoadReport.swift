import SharedTable
import ToolSupport

/// What a load came to.
struct LoadReport {
  var applied: UInt64
  var kept: UInt64 = 0
  var expired: UInt64 = 0
  var removed: UInt64 = 0

  init(applied: UInt64) { self.applied = applied }

  init(_ load: RecordLoad) {
    applied = load.applied
    kept = load.kept
    expired = load.expired
  }

  func report(_ options: CommonOptions, _ table: Table) throws {
    if options.json {
      var object = JSONObject()
      object.add("table", table.name)
      object.add("applied", applied)
      object.add("kept", kept)
      object.add("expired", expired)
      object.add("removed", removed)
      return try StandardOutput.write(object.line)
    }
    guard !options.quiet else { return }
    func plural(_ count: UInt64) -> String { count == 1 ? "" : "s" }
    var parts = ["\(applied) record\(plural(applied)) applied"]
    if kept > 0 { parts.append("\(kept) key\(plural(kept)) left as \(kept == 1 ? "it was" : "they were")") }
    if expired > 0 { parts.append("\(expired) expired record\(plural(expired)) left out") }
    if removed > 0 { parts.append("\(removed) key\(plural(removed)) removed") }
    try StandardOutput.write(line: parts.joined(separator: ", "))
  }
}

import SharedTable
import ToolSupport

/// How far a mirror is, for people and for programs.
struct UpstreamReport {
  /// Nil: shmd has not begun to mirror it.
  let status: UpstreamStatus?
  private let lagNanoseconds: UInt64?

  init(_ status: UpstreamStatus?) {
    self.status = status
    lagNanoseconds = status?.lag?.clampedNanoseconds
  }

  /// What an entry says that is a mirror's status; nil if it says something else.
  init?(entry: TableEntry) {
    guard let status = UpstreamStatus(text: String(decoding: entry.bytes, as: UTF8.self)) else { return nil }
    self.init(status)
  }

  var revision: Int64 { status?.revision ?? 0 }
  var state: String { status?.state.rawValue ?? "none" }

  /// In one line.
  var phrase: String {
    guard let status else { return "shmd has not begun to mirror it; is it running?" }
    return "\(status.state.rawValue) \(status.address), \(whole(status))"
  }

  private func whole(_ status: UpstreamStatus) -> String {
    guard let lagNanoseconds else { return "never whole yet" }
    return "revision \(status.revision), at most \(Phrase.time(lagNanoseconds)) old"
  }

  var lines: [String] {
    guard let status else { return [phrase] }
    var lines = [phrase, "cluster \(String(status.cluster, radix: 16)), term \(status.term)"]
    if let path = status.writeSocketPath { lines.append("writes by \(path)") }
    if !status.problem.isEmpty { lines.append(status.problem) }
    return lines
  }

  func add(to object: inout JSONObject) {
    guard let status else { return object.add("state", "none") }
    object.add("state", status.state.rawValue)
    object.add("address", status.address)
    object.add("revision", status.revision)
    // As text: it has more digits than many readers of JSON keep of a number.
    object.add("cluster", String(status.cluster, radix: 16))
    object.add("term", status.term)
    if status.asOf > 0 { object.add("asOfMilliseconds", status.asOf / 1_000_000) }
    if let lagNanoseconds { object.add("lagMilliseconds", lagNanoseconds / 1_000_000) }
    if let path = status.writeSocketPath { object.add("writesBy", path) }
    if !status.problem.isEmpty { object.add("problem", status.problem) }
  }
}

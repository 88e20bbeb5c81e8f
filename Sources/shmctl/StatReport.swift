import SharedTable
import ToolSupport

/// A table's figures for people and for programs.
enum StatReport {
  static func text(_ table: Table, _ statistics: Table.Statistics) -> [UInt8] {
    var rows = [
      ("table", table.name),
      ("variant", "\(table.variant)"),
      ("access", table.isObserver ? "observer" : "participant"),
      ("probe id", "\(statistics.probeID)"),
      ("version", "\(statistics.version)"),
      ("keys", "\(statistics.keyCount)"),
      ("capacity", size(statistics.capacityBytes)),
      ("allocated", size(statistics.claimedBytes)),
    ]
    if !table.isObserver {
      rows += [
        ("used", size(statistics.usedBytes)),
        ("limbo", "\(size(statistics.limboBytes)) of \(size(statistics.limboBudgetBytes))"),
        ("recoveries", statistics.recoveries.map { "\($0)" } ?? "?"),
        ("damaged", statistics.isDamaged ? "yes" : "no"),
        ("writer", statistics.writer.map { who($0) } ?? "none"),
        ("waits", "\(statistics.barrierWaits.map { "\($0.none) barriers without" } ?? "?")"),
      ]
      rows += waits(statistics).map { ("", "\($0.count) of \(time($0.from)) to \(time($0.to))") }
      rows.append(("readers", "\(statistics.readers.count)"))
      rows += statistics.readers.map { ("", "\(who($0.holder)): \(doing($0, statistics.version))") }
    }
    return lines(rows)
  }

  /// Of a name that somebody has whom the user does not trust: nothing is read of what lies there.
  static func text(foreign name: String, _ owner: Table.Owner?) -> [UInt8] {
    lines([("table", name), ("foreign", "yes"), ("owner", owner.map { "\($0)" } ?? "?")])
  }

  static func json(foreign name: String, _ owner: Table.Owner?) -> [UInt8] {
    var object = JSONObject()
    object.add("table", name)
    if let owner { object.add(foreignOwner: owner) }
    return object.line
  }

  private static func lines(_ rows: [(String, String)]) -> [UInt8] {
    let lines = rows.map { name, value in
      StandardError.printable(name + String(repeating: " ", count: 12 - name.count) + value) + "\n"
    }
    return Array(lines.joined().utf8)
  }

  /// How many barriers waited how long, in nanoseconds.
  private static func waits(_ statistics: Table.Statistics) -> [(from: UInt64, to: UInt64, count: UInt64)] {
    (statistics.barrierWaits?.byLogarithm ?? []).enumerated().compactMap { index, count in
      count == 0 ? nil : (1 << UInt64(index), 2 << UInt64(index), count)
    }
  }

  /// In the largest unit that leaves at least 1.
  private static func time(_ nanoseconds: UInt64) -> String {
    switch nanoseconds {
    case ..<1000: "\(nanoseconds) ns"
    case ..<1_000_000: "\(nanoseconds / 1000) µs"
    case ..<1_000_000_000: "\(nanoseconds / 1_000_000) ms"
    default: "\(nanoseconds / 1_000_000_000) s"
    }
  }

  private static func size(_ bytes: Int?) -> String {
    guard let bytes else { return "?" }
    return bytes < 1024 ? "\(ByteCount(bytes: bytes))" : "\(ByteCount(bytes: bytes)) (\(bytes))"
  }

  private static func who(_ holder: Table.Holder) -> String {
    let held = holder.heldNanoseconds.map { " for \($0 / 1_000_000) ms" } ?? ""
    let queue = holder.label.map { ", in a barrier of queue '\($0)'" } ?? ""
    return "\(holder.command) (pid \(holder.pid), thread \(holder.tid))\(held)\(queue)"
  }

  private static func doing(_ reader: Table.Statistics.Reader, _ version: UInt64) -> String {
    if reader.claimsKeys { return "in a barrier of some keys" }
    guard let at = reader.version else { return "idle" }
    let what = reader.isLongSnapshot ? "snapshot" : "reading"
    var text = "\(what) at version \(at), \(lag(at, version)) behind"
    if reader.isEvicted { text += ", evicted" }
    if let stalled = reader.stalledNanoseconds { text += ", in the way for \(stalled / 1_000_000) ms" }
    if reader.keptBytes > 0 { text += ", keeps \(size(reader.keptBytes))" }
    return text
  }

  /// A reader may have begun at a version that came after ours was read.
  private static func lag(_ reader: UInt64, _ version: UInt64) -> UInt64 { version > reader ? version - reader : 0 }

  static func json(_ table: Table, _ statistics: Table.Statistics) -> [UInt8] {
    var object = JSONObject()
    object.add("table", table.name)
    object.add("variant", "\(table.variant)")
    object.add("access", table.isObserver ? "observer" : "participant")
    // As text: it has more digits than many readers of JSON keep of a number.
    object.add("probeID", "\(statistics.probeID)")
    object.add("version", statistics.version)
    object.add("keys", statistics.keyCount)
    object.add("capacityBytes", statistics.capacityBytes)
    object.add("claimedBytes", statistics.claimedBytes)
    if table.isObserver { return object.line }
    if let used = statistics.usedBytes { object.add("usedBytes", used) }
    if let limbo = statistics.limboBytes { object.add("limboBytes", limbo) }
    if let budget = statistics.limboBudgetBytes { object.add("limboBudgetBytes", budget) }
    if let recoveries = statistics.recoveries { object.add("recoveries", recoveries) }
    if let waits = statistics.barrierWaits { object.add("barriersUnwaited", waits.none) }
    object.add("barrierWaits", raw: JSONText.array(waits(statistics).map { describe($0).text }))
    object.add("damaged", statistics.isDamaged)
    if let writer = statistics.writer {
      object.add("writer", raw: describe(writer).text)
    } else {
      object.addNull("writer")
    }
    object.add("readers", raw: JSONText.array(statistics.readers.map { describe($0, statistics.version).text }))
    return object.line
  }

  private static func describe(_ wait: (from: UInt64, to: UInt64, count: UInt64)) -> JSONObject {
    var object = JSONObject()
    object.add("fromNanoseconds", wait.from)
    object.add("belowNanoseconds", wait.to)
    object.add("count", wait.count)
    return object
  }

  private static func describe(_ holder: Table.Holder) -> JSONObject {
    var object = JSONObject()
    object.add("pid", holder.pid)
    object.add("tid", holder.tid)
    object.add("command", holder.command)
    if let held = holder.heldNanoseconds { object.add("heldMilliseconds", held / 1_000_000) }
    if let label = holder.label { object.add("queue", label) }
    return object
  }

  private static func describe(_ reader: Table.Statistics.Reader, _ version: UInt64) -> JSONObject {
    var object = describe(reader.holder)
    object.add("snapshot", reader.isLongSnapshot)
    object.add("evicted", reader.isEvicted)
    object.add("claimsKeys", reader.claimsKeys)
    if let at = reader.version {
      object.add("version", at)
      object.add("lag", lag(at, version))
    } else {
      object.addNull("version")
    }
    if let stalled = reader.stalledNanoseconds { object.add("stalledMilliseconds", stalled / 1_000_000) }
    object.add("keptBytes", reader.keptBytes)
    return object
  }
}

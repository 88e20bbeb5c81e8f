import SharedTable
import ToolSupport

/// A table's figures for programs: names and units stay what they are.
extension StatReport {
  static func json(foreign name: String, _ owner: Table.Owner?) -> [UInt8] {
    var object = JSONObject()
    object.add("table", name)
    if let owner { object.add(foreignOwner: owner) }
    return object.line
  }

  var json: [UInt8] {
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
    if let observers = statistics.observers { object.add("observers", observers) }
    if table.isMirror {
      var mirrored = JSONObject()
      upstream.add(to: &mirrored)
      object.add("upstream", raw: mirrored.text)
    }
    if let rate { object.add("commitsPerSecond", rate) }
    if !table.isObserver { addParticipants(&object) }
    return object.line
  }

  private func addParticipants(_ object: inout JSONObject) {
    if let used = statistics.usedBytes { object.add("usedBytes", used) }
    if let huge = statistics.hugeBytes { object.add("hugeBytes", huge) }
    if let memory = statistics.memory {
      object.add("freeUnclaimedBytes", memory.unclaimed)
      object.add("freeSuperframeBytes", memory.freeSuperframes)
      object.add("freeFrameBytes", memory.freeFrames)
      object.add("freeSlabBytes", memory.freeInSlabs)
    }
    if let limbo = statistics.limboBytes { object.add("limboBytes", limbo) }
    if let budget = statistics.limboBudgetBytes { object.add("limboBudgetBytes", budget) }
    if let recoveries = statistics.recoveries { object.add("recoveries", recoveries) }
    object.add("needsRecovery", statistics.needsRecovery)
    if let evictions = statistics.evictions { object.add("evictions", evictions) }
    if let waits = statistics.barrierWaits { object.add("barriersUnwaited", waits.none) }
    object.add("barrierWaits", raw: JSONText.array(statistics.waits.map { Self.describe($0).text }))
    object.add("damaged", statistics.isDamaged)
    if let writer = statistics.writer {
      object.add("writer", raw: Self.describe(writer).text)
    } else {
      object.addNull("writer")
    }
    let readers = statistics.readers.map { Self.describe($0, at: statistics.version).text }
    object.add("readers", raw: JSONText.array(readers))
  }

  private static func describe(_ wait: (from: UInt64, to: UInt64, count: UInt64)) -> JSONObject {
    var object = JSONObject()
    object.add("fromNanoseconds", wait.from)
    object.add("belowNanoseconds", wait.to)
    object.add("count", wait.count)
    return object
  }

  static func describe(_ holder: Table.Holder) -> JSONObject {
    var object = JSONObject()
    object.add("pid", holder.pid)
    object.add("tid", holder.tid)
    object.add("command", holder.command)
    if let held = holder.heldNanoseconds { object.add("heldMilliseconds", held / 1_000_000) }
    if let label = holder.label { object.add("queue", label) }
    return object
  }

  static func describe(_ reader: Table.Reader, at version: UInt64) -> JSONObject {
    var object = describe(reader.holder)
    object.add("snapshot", reader.isLongSnapshot)
    object.add("evicted", reader.isEvicted)
    object.add("holdsKeyLocks", reader.holdsKeyLocks)
    if let wait = reader.wait { object.add("waitsFor", wait.word) }
    if let at = reader.version {
      object.add("version", at)
      object.add("lag", Phrase.lag(at, version))
    } else {
      object.addNull("version")
    }
    if let stalled = reader.inTheWayNanoseconds { object.add("inTheWayMilliseconds", stalled / 1_000_000) }
    object.add("keptBytes", reader.keptBytes)
    return object
  }
}

extension Table.Reader.Wait {
  /// For programs.
  var word: String {
    switch self {
    case .barrier: "barrier"
    case .keys: "keys"
    case .reading: "reading"
    }
  }
}

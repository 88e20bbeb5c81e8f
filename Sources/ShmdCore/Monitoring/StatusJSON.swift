import SharedTable
import TableMetrics
import TableStore
import ToolSupport

/// A sample as `/status.json` (docs/status-json.md).
enum StatusJSON {
  /// - Parameter now: when it is asked for, by CLOCK_MONOTONIC: the health is that of this moment.
  static func text(of sample: HostSample, now: UInt64) -> [UInt8] {
    var object = JSONObject()
    object.add("version", 1)
    object.add("time", sample.wallNanoseconds / 1_000_000)
    object.add("sampleMicroseconds", sample.tookNanoseconds / 1000)
    object.add("health", strings: HealthReport(sample, now: now).reasons.map(\.printable))
    object.add("daemon", raw: counters(sample.counters))
    let stores = Dictionary(uniqueKeysWithValues: sample.stores.map { ($0.table, $0.status) })
    object.add(
      "tables", raw: JSONText.array(sample.tables.map { table($0, stores[$0.name], sample.history) }))
    object.add("blocked", raw: JSONText.array(sample.blocked.map(blocked)))
    return object.line
  }

  private static func counters(_ counters: DaemonCounters.Values) -> [UInt8] {
    var object = JSONObject()
    object.add("rounds", counters.rounds)
    object.add("expiredKeysRemoved", counters.expiredKeys)
    object.add("recoveriesNoticed", counters.recoveries)
    object.add("deadParticipants", counters.deadParticipants)
    object.add("reloads", counters.reloads)
    object.add("refusedReloads", counters.refusedReloads)
    return object.text
  }

  private static func blocked(_ sample: BlockedSample) -> [UInt8] {
    var object = JSONObject()
    object.add("table", sample.table)
    object.add("problem", sample.problem.printable)
    return object.text
  }

  private static func table(_ sample: TableSample, _ store: StoreStatus?, _ history: FillHistory) -> [UInt8] {
    let statistics = sample.statistics
    let points = history.points[sample.name] ?? []
    var object = JSONObject()
    object.add("table", sample.name)
    object.add("variant", "\(sample.figures.variant)")
    object.add("keys", statistics.keyCount)
    object.add("version", statistics.version)
    object.add("commitsPerSecond", raw: Array(String(history.commitRate(of: sample.name)).utf8))
    object.add("capacityBytes", statistics.capacityBytes)
    object.add("claimedBytes", statistics.claimedBytes)
    if let used = statistics.usedBytes { object.add("usedBytes", used) }
    if let limbo = statistics.limboBytes { object.add("limboBytes", limbo) }
    object.add("fillPermille", sample.fill)
    object.add("fillHistoryPermille", raw: JSONText.array(points.map { Array(String($0.fill).utf8) }))
    object.add("fillHistorySeconds", history.secondsPerPoint(of: sample.name))
    object.add("isDamaged", statistics.isDamaged)
    object.add("needsRecovery", statistics.needsRecovery)
    if let trouble = sample.trouble { object.add("trouble", trouble.printable) }
    if !sample.refusals.isEmpty { object.add("refusedChanges", strings: sample.refusals.map(\.printable)) }
    if let writer = statistics.writer { object.add("writer", raw: holder(writer)) }
    if let waits = statistics.barrierWaits {
      object.add("barriersUnwaited", waits.none)
      object.add("barriersWaited", waits.byLogarithm.reduce(0, &+))
    }
    object.add("participants", raw: JSONText.array(sample.participants.map(participant)))
    if let observers = statistics.observers { object.add("observers", observers) }
    object.add("stalledReaders", raw: JSONText.array(sample.figures.stalledReaders.map(stalled)))
    add(sample, store, to: &object)
    object.add("changes", raw: JSONText.array(sample.changes.map(change)))
    return object.text
  }

  private static func add(_ sample: TableSample, _ store: StoreStatus?, to object: inout JSONObject) {
    object.add("durability", sample.durability.written)
    if let durable = sample.durableVersion { object.add("durableVersion", durable) }
    guard let store else { return }
    object.add(
      "storeLagMilliseconds",
      store.lag.components.seconds * 1000 + store.lag.components.attoseconds / 1_000_000_000_000_000)
    if let error = store.error { object.add("storeProblem", "\(error)".printable) }
  }

  private static func holder(_ holder: Table.Holder) -> [UInt8] {
    var object = JSONObject()
    object.add("pid", holder.pid)
    object.add("command", holder.command.printable)
    if let held = holder.heldNanoseconds { object.add("microseconds", held / 1000) }
    return object.text
  }

  private static func participant(_ participant: TableSample.Participant) -> [UInt8] {
    var object = JSONObject()
    object.add("command", participant.command.printable)
    object.add("processes", participant.processes)
    object.add("threads", participant.threads)
    object.add("reading", participant.reading)
    object.add("waiting", participant.waiting)
    return object.text
  }

  private static func stalled(_ reader: Table.Reader) -> [UInt8] {
    var object = JSONObject()
    object.add("pid", reader.holder.pid)
    object.add("command", reader.holder.command.printable)
    object.add("milliseconds", (reader.inTheWayNanoseconds ?? 0) / 1_000_000)
    object.add("keptBytes", reader.keptBytes)
    return object.text
  }

  private static func change(_ change: TableChange) -> [UInt8] {
    var object = JSONObject()
    if let version = change.version { object.add("version", version) }
    if case .removed = change { object.add("kind", "removed") } else { object.add("kind", "set") }
    if let key = change.key { object.add("key", bytes: key) }
    return object.text
  }
}

import SharedMemory
import SharedTable
import TableMetrics
import ToolSupport

/// A process that takes part in a table, and what its threads do there.
struct Client {
  struct Thread {
    let reader: Table.Reader
    /// Runs a barrier, for so long.
    let barrier: Table.Holder?
    let doing: String

    var isBusy: Bool { barrier != nil || reader.version != nil || reader.holdsKeyLocks || reader.wait != nil }
    var isStalled: Bool { reader.isStalled }
  }

  let pid: Int32
  let command: String
  let user: String
  let userID: UInt32?
  let isStopped: Bool
  private(set) var threads: [Thread] = []
  private let version: UInt64

  /// All of a table but ourselves.
  static func all(_ figures: TableFigures) -> [Client] {
    let statistics = figures.statistics
    return figures.processes.filter { $0.pid != ProcessIdentity.pid }.map { process in
      let status = ProcessStatus(process.pid)
      var client = Client(process, status, statistics.version)
      for reader in statistics.readers where reader.holder.pid == process.pid {
        let barrier = statistics.writer.flatMap { $0.tid == reader.holder.tid && !reader.isLongSnapshot ? $0 : nil }
        client.threads.append(
          Thread(
            reader: reader, barrier: reader.purpose == .thread ? barrier : nil,
            doing: doing(reader, reader.purpose == .thread ? barrier : nil, statistics.version)))
      }
      return client
    }
  }

  private init(_ process: TableFigures.Process, _ status: ProcessStatus?, _ version: UInt64) {
    pid = process.pid
    command = status?.command ?? process.command
    userID = status?.user
    user = status.map { HostUserName.of($0.user) } ?? "?"
    isStopped = status?.isStopped ?? false
    self.version = version
  }

  private static func doing(
    _ reader: Table.Reader, _ barrier: Table.Holder?, _ version: UInt64
  ) -> String {
    guard let barrier else { return Phrase.doing(reader, at: version) }
    let held = barrier.heldNanoseconds.map { " for \(Phrase.time($0))" } ?? ""
    return "in a barrier\(held)" + (barrier.label.map { " (queue '\($0)')" } ?? "")
  }

  /// What the whole process does, and what its busy threads do, one each.
  var summary: (first: String, others: [String]) {
    let busy = threads.filter(\.isBusy)
    var first: [String] = []
    if isStopped { first.append("STOPPED") }
    if busy.contains(where: \.isStalled) { first.append("STALLED") }
    if busy.count == 1, first.isEmpty { return ("thread \(busy[0].reader.holder.tid) \(busy[0].doing)", []) }
    if busy.isEmpty { first.append("idle") }
    let lines = busy.map { "thread \($0.reader.holder.tid) \($0.doing)" }
    return first.isEmpty ? (lines[0], Array(lines.dropFirst())) : (first.joined(separator: " "), lines)
  }

  func json(_ table: String) -> JSONObject {
    var object = JSONObject()
    object.add("table", table)
    object.add("pid", pid)
    object.add("command", command)
    if let userID {
      object.add("uid", userID)
      object.add("user", user)
    }
    object.add("stopped", isStopped)
    object.add("stalled", threads.contains(where: \.isStalled))
    object.add(
      "threads",
      raw: JSONText.array(
        threads.map { thread in
          var described = StatReport.describe(thread.reader, at: version)
          described.add("barrier", thread.barrier != nil)
          if let held = thread.barrier?.heldNanoseconds { described.add("barrierMilliseconds", held / 1_000_000) }
          return described.text
        }))
    return object
  }
}

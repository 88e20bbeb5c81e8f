// What a worker does with a queue over the table it has open.

import SharedTable

nonisolated(unsafe) private var madeQueue: BarrierQueue?
private var queue: BarrierQueue {
  get throws {
    if let madeQueue { return madeQueue }
    let made = try BarrierQueue(table, label: "org.example.worker")
    madeQueue = made
    return made
  }
}

/// Nil for a command that is not one of these.
func queueAnswer(_ words: [String]) throws -> String? {
  func timeout(_ index: Int) -> Duration? { words.count > index ? .milliseconds(Int(words[index])!) : nil }
  switch words[0] {
  case "queue-barrier":
    try queue.sync(flags: .barrier, timeout: timeout(1)) { tx in try inside(&tx) }
    return "ok"
  case "queue-read":
    try queue.sync(timeout: timeout(1)) { view in try inside(view) }
    return "ok"
  case "queue-increments":
    let item = try (0..<Int(words[2])!).map { _ in
      let key = words[1]
      return try queue.async(flags: .barrier) { tx in try tx.increment(key) }
    }.last!
    return "\(try item.wait(timeout: .seconds(30)))"
  case "queue-nest":
    // Barriers over two tables, one in the other; between them the test has its say.
    let inner = try BarrierQueue(Table.open(words[1], access: .participant), label: "org.example.inner")
    let timeout = timeout(2)
    return try queue.sync(flags: .barrier) { _ in
      say("in")
      _ = nextCommand()
      return try inner.sync(flags: .barrier, timeout: timeout) { _ in "both" }
    }
  case "synchronize":
    try table.synchronize(timeout: timeout(1))
    return "ok"
  default: return nil
  }
}

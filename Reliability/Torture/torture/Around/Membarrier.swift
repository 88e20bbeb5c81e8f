import SharedMemory
import SharedTable
import TestSupport

/// Who may not call membarrier must fence by itself; who may, must not rely on those who may not.
func noMembarrier(_ run: Run) throws {
  let transfers = run.bounded(20_000, long: 2_000_000)
  for (title, writerIsDenied, readerIsDenied) in [
    ("denied to all", true, true), ("denied to the reader", false, true), ("denied to the writer", true, false),
  ] {
    try withTableName { name in
      let (writer, reader) = (try startNeighbour(), try startNeighbour())
      try run.expect(writer, "fencing", writer.isDenied(writerIsDenied))
      try run.expect(reader, "fencing", reader.isDenied(readerIsDenied))
      try run.expect(writer, "create \(name) rcu \(4 << 20)", "ok")
      try run.expect(reader, "open \(name) participant", "participant")
      // Who was denied it next to somebody who relies on it commits, and leaves gc to others.
      let leavesGC = writerIsDenied && !readerIsDenied
      let keeper = try startNeighbour()
      if leavesGC { try run.expect(keeper, "open \(name) participant", "participant") }
      for _ in 0..<10 {
        if leavesGC { try keeper.ask("maintain") }
        let portion = leavesGC ? min(transfers / 10, 2000) : transfers / 10
        try writer.send("bank \(portion)")
        try run.expect(reader, "audit \(portion)", "ok")
        let written = try writer.readLine()
        try run.expect(written == "ok", "\(title): \(written)")
      }
      if leavesGC { try refusesWhatItCannotReclaim(run, writer, reader, keeper) }
      let limbo = Int(try writer.ask("limbo")) ?? .max
      try run.expect(limbo <= 2 << 20, "\(title): \(limbo) bytes are kept")
      try run.expect(writer, "check", "ok")
      try writer.finish()
      run.row(
        "membarrier \(title)", "\(transfers) transfers between accounts beside as many audits",
        leavesGC
          ? "every sum constant; gc left to others, past the budget refused, until one came or none was left"
          : "attached with \(readerIsDenied ? "exchanges" : "light fences"); every sum constant; memory reused")
    }
  }
}

/// The first to be refused is told why; after another's gc it goes on.
private func refusesWhatItCannotReclaim(
  _ run: Run, _ writer: WorkerProcess, _ reader: WorkerProcess, _ keeper: WorkerProcess
) throws {
  var answer = "ok"
  for _ in 0..<100 where answer == "ok" { answer = try writer.ask("fill 100 1000 x") }
  try run.expect(
    answer.hasPrefix("error full") && answer.contains("membarrier"),
    "what it may not reclaim: expected to be refused for the lack of membarrier, got \(answer)")
  try run.expect(Int(try keeper.ask("limbo")) ?? 0 > 100 << 10, "a process reclaimed without membarrier")
  try keeper.ask("maintain")
  try run.expect(writer, "fill 100 1000 x", "ok")
  // Nobody who relies on it is left: nothing stands in the way any more.
  for process in [keeper, reader] { try process.killAndWait() }
  for _ in 0..<100 { try run.expect(writer, "fill 100 1000 x", "ok") }
}

extension WorkerProcess {
  /// Puts the filter in place if asked to; what the process must say of its fences afterwards.
  fileprivate func isDenied(_ denied: Bool) -> String {
    if denied { _ = try? ask("deny-membarrier") }
    return denied ? "fenced" : "light"
  }
}

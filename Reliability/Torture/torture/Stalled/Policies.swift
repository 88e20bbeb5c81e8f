import Glibc
import SharedTable
import TestSupport

/// One policy, three places where a reader may stop: inside a get, in a section that uses values in place, between
/// two uses of a snapshot.
func stalledReaders(_ run: Run, _ policy: Table.StalledReaderPolicy) throws {
  for place in ["get", "section"] { try stoppedInside(run, place, policy) }
  try heldSnapshot(run, policy)
}

private let keys = 20_000
private let budget = 1 << 20

private func stoppedInside(_ run: Run, _ place: String, _ policy: Table.StalledReaderPolicy) throws {
  let what = place == "get" ? "stopped inside a get" : "stopped in a section, values in place"
  try withTableName { name in
    let stalled = try StalledTable(name, keys: keys, budget: budget, policy)
    let reader = try startWorker("stall", [name, place, "\(keys)"], timeoutSeconds: run.isLong ? 3600 : 120)
    try reader.expectLine("inside")
    try reader.waitUntilStopped()
    let refusal = try stalled.write(run.bounded(100_000, long: writesOfAnHour))
    try expectRefused(run, refusal, reader, what)
    try run.expect(stalled.writes > 1000, "\(what): refused after \(stalled.writes) writes")
    // And again, each time; nothing grows any more.
    for _ in 0..<(policy == .wait ? 3 : run.bounded(1000, long: 100_000)) {
      try expectRefused(run, try stalled.write(1), reader, what)
    }
    try expectNamed(run, stalled, reader, what)
    try stalled.expectBounded(run, what)
    try goOn(run, stalled, policy, reader, what)
    let answer = try reader.readLine()
    try run.expect(answer == "whole", "\(what): \(answer)")
    try reader.finish()
    let after = try stalled.write(run.bounded(50_000, long: 1_000_000))
    try run.expect(after == nil, "\(what): once it was gone: \(after!)")
    try stalled.expectBounded(run, what)
    try run.expect(try stalled.table.check() == [], "the table is not whole")
    let how = policy == .wait ? "waits its timeout, then " : ""
    stalled.row(
      run, what, "\(policy)", "\(how)refused, naming it, until it goes on; its bytes unchanged; then written again")
  }
}

private func expectRefused(_ run: Run, _ refusal: TableError?, _ reader: WorkerProcess, _ what: String) throws {
  try run.expect(
    refusal?.code == .full && refusal?.holder?.pid == reader.pid && refusal?.holder?.command == "torture",
    "\(what): expected to be refused naming \(reader.pid), got \(refusal.map { "\($0)" } ?? "no error")")
}

/// `stat` names the culprit: who, since when, at which version, and what that costs.
private func expectNamed(_ run: Run, _ stalled: StalledTable, _ reader: WorkerProcess, _ what: String) throws {
  let statistics = stalled.table.statistics
  let figures = stalled.figures(of: reader.pid)
  try run.expect(
    figures?.version ?? .max < statistics.version && figures?.inTheWayNanoseconds ?? 0 > 0,
    "\(what): stat shows \(figures.map { "\($0)" } ?? "nobody")")
  let (kept, all) = (figures?.keptBytes ?? 0, statistics.limboBytes ?? 0)
  try run.expect(kept > all / 2 && kept <= all, "\(what): stat says that it keeps \(kept) of \(all) bytes")
}

/// The reader goes on; under the policy to wait, while a writer waits for it.
private func goOn(
  _ run: Run, _ stalled: StalledTable, _ policy: Table.StalledReaderPolicy, _ reader: WorkerProcess, _ what: String
) throws {
  guard policy == .wait else { return reader.kill(SIGCONT) }
  let started = ContinuousClock.now
  try expectRefused(run, try stalled.write(1), reader, what)
  try run.expect(ContinuousClock.now - started >= stalled.table.timeout, "\(what): refused before its timeout")
  let writer = try startNeighbour()
  try run.expect(writer, "open \(stalled.table.name) participant", "participant")
  try writer.send("set waited v 60000")
  // While it waits, it holds nothing that others would wait for.
  try expectRefused(run, try stalled.write(1), reader, what)
  reader.kill(SIGCONT)
  let answer = try writer.readLine()
  try run.expect(answer == "ok", "\(what): a writer that waited for it: \(answer)")
  try writer.finish()
}

private func heldSnapshot(_ run: Run, _ policy: Table.StalledReaderPolicy) throws {
  let what = "holds a snapshot of \(keys) keys"
  try withTableName { name in
    let stalled = try StalledTable(name, keys: keys, budget: budget, policy)
    let reader = try startWorker("stall", [name, "snapshot", "\(keys)"], timeoutSeconds: run.isLong ? 3600 : 120)
    try reader.expectLine("inside")
    let total = run.bounded(200_000, long: writesOfAnHour)
    let portion = 1000
    var evictedAfter: Int?
    var refusal: TableError?
    // It is stopped while others write, and looks whenever they have written a little.
    while stalled.writes < total, refusal == nil {
      reader.kill(SIGSTOP)
      refusal = try stalled.write(evictedAfter == nil ? portion : total / 10)
      reader.kill(SIGCONT)
      let answer = try reader.ask("500")
      if answer.hasPrefix("error snapshotTooOld") {
        evictedAfter = evictedAfter ?? stalled.writes
      } else {
        try run.expect(answer == "whole" && evictedAfter == nil, "\(what): \(answer)")
      }
    }
    try stalled.expectBounded(run, what)
    if policy == .evict {
      try run.expect(refusal == nil, "\(what): \(refusal.map { "\($0)" } ?? "")")
      try run.expect(evictedAfter ?? 0 > 5000, "\(what): evicted after \(evictedAfter ?? 0) writes")
      stalled.row(
        run, what, "evict", "each value right until it was told `snapshotTooOld`; writers never noticed")
    } else {
      try expectRefused(run, refusal, reader, what)
      try run.expect(evictedAfter == nil, "\(what): it was evicted")
      try expectNamed(run, stalled, reader, what)
      try run.expect(reader, "\(keys)", "whole")
      try reader.killAndWait()
      let after = try stalled.write(run.bounded(50_000, long: 1_000_000))
      try run.expect(after == nil, "\(what): once it was killed: \(after!)")
      let how = policy == .wait ? "waits its timeout, then " : ""
      stalled.row(run, what, "\(policy)", "\(how)refused, naming it; its snapshot whole; killed, written again")
    }
    try run.expect(try stalled.table.check() == [], "the table is not whole")
  }
}

/// What a snapshot keeps is what it shows, however often that is overwritten.
func snapshotOfASmallTable(_ run: Run) throws {
  let keys = 4000
  try withTableName { name in
    let stalled = try StalledTable(name, keys: keys, budget: budget, .refuse)
    let reader = try startWorker("stall", [name, "snapshot", "\(keys)"], timeoutSeconds: run.isLong ? 3600 : 120)
    try reader.expectLine("inside")
    let total = run.bounded(400_000, long: writesOfAnHour)
    for _ in 0..<20 {
      reader.kill(SIGSTOP)
      let refusal = try stalled.write(total / 20)
      reader.kill(SIGCONT)
      try run.expect(refusal == nil, "refused: \(refusal!)")
      try run.expect(reader, "\(keys)", "whole")
    }
    try stalled.expectBounded(run, "a small snapshot")
    try reader.finish()
    stalled.row(
      run, "holds a snapshot of \(keys) keys, \((keys * 160) >> 10) KiB", "refuse",
      "each value right to the end; nothing refused: it keeps what it shows and no more")
  }
}

/// An observer stores nothing, so nothing is kept for it; where there are no versions, nothing can be.
func costNothing(_ run: Run) throws {
  try withTableName { name in
    let stalled = try StalledTable(name, keys: keys, budget: budget, .refuse)
    let observer = try startWorker("stall", [name, "observer", "\(keys)"])
    try observer.expectLine("inside")
    try observer.waitUntilStopped()
    let refusal = try stalled.write(run.bounded(100_000, long: 1_000_000))
    try run.expect(refusal == nil, "beside a stopped observer: \(refusal!)")
    try stalled.expectBounded(run, "a stopped observer")
    observer.kill(SIGCONT)
    let answer = try observer.readLine()
    try run.expect(answer.hasPrefix("error snapshotTooOld"), "a stopped observer: \(answer)")
    try observer.finish()
    stalled.row(run, "observer stopped in a section", "refuse", "nothing kept for it; told `snapshotTooOld`")
  }
  try withTableName { name in
    let stalled = try StalledTable(name, variant: .rwlock, keys: 1000, budget: budget, .evict)
    let reader = try startWorker("stall", [name, "section", "1000"])
    try reader.expectLine("inside")
    try reader.waitUntilStopped()
    for _ in 0..<3 {
      let refusal = try stalled.write(1)
      try run.expect(
        refusal?.code == .timedOut && refusal?.holder?.pid == reader.pid,
        "rwlock: expected to time out naming \(reader.pid), got \(refusal.map { "\($0)" } ?? "no error")")
    }
    reader.kill(SIGCONT)
    try run.expect(try reader.readLine() == "whole", "rwlock: a section's bytes have changed")
    try reader.finish()
    let after = try stalled.write(10_000)
    try run.expect(after == nil, "rwlock: \(after!)")
    stalled.row(
      run, "rwlock variant, stopped in a section", "none applies", "writes time out naming it; nothing is kept")
  }
}

import SharedTable
import TestSupport

func threadsComeAndGo(_ run: Run) throws {
  let threads = run.bounded(4096, long: 65_536)
  for variant in Table.Variant.allCases {
    try withTableName { name in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let process = try startNeighbour()
      try run.expect(process, "open \(name) participant", "participant")
      try run.expect(process, "threads \(threads) 64", "ok")
      let held = table.statistics.readers.filter { $0.holder.pid == process.pid }.count
      try run.expect(held == 0, "\(held) slots are held by threads that ended")
      // Every slot can be had, but for this process's own.
      _ = try table.contains("k")
      try run.expect(process, "occupy 1023", "1023 none")
      try run.expect(process, "release 1023", "ok")
      try run.expect(try table.check() == [], "the table is not whole")
      try process.finish()
    }
  }
  run.row(
    "threads that come and go, both variants",
    "\(threads) threads, 64 at a time, each with a write, a get and a section",
    "no slot leaked: 1,023 threads at once found one each afterwards")
}

func moreThreadsThanSlots(_ run: Run) throws {
  for variant in Table.Variant.allCases {
    try withTableName { name in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      try table.set("k", "v")
      let (hog, other) = (try startNeighbour(), try startNeighbour())
      try run.expect(hog, "open \(name) participant", "participant")
      try run.expect(other, "open \(name) participant", "participant")
      let answer = try hog.ask("occupy 1100")
      try run.expect(
        answer.hasPrefix("1023 error slotsExhausted") && answer.contains("all 1024 "), "1,100 threads: \(answer)")
      // Another process is refused as well, writers too; an observer needs no slot; those inside go on.
      try run.expect(other, "get k", refusedAs: "slotsExhausted")
      try run.expect(other, "set k w", refusedAs: "slotsExhausted")
      try table.set("k", "still")
      try run.expect(other, "open \(name) observer", "observer")
      try run.expect(other, "get k", "still")
      try run.expect(hog, "release 1", "ok")
      try run.expect(other, "open \(name) participant", "participant")
      while try other.ask("get k") != "still" {}
      try hog.killAndWait()
      try run.expect(other, "occupy 1022", "1022 none")
      try run.expect(other, "release 1022", "ok")
      try run.expect(try table.check() == [], "the table is not whole")
      try other.finish()
    }
  }
  run.row(
    "more threads than slots, both variants", "1,100 threads of one process beside two others",
    "1,024 served, the rest told `slotsExhausted`; slots come back with a thread's end and with `kill -9`")
}

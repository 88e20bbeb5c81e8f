import SharedTable
import TestSupport

/// Expiry is judged by CLOCK_REALTIME, which may be set back; nothing else is.
///
/// The clocks of two processes are put off by a day, not the host's: through the seam that `Table.open(clock:)` is.
func clockSetBack(_ run: Run) throws {
  for variant in ["rcu", "rwlock"] {
    try withTableName { name in
      let (writer, reader) = (try startNeighbour(), try startNeighbour())
      try run.expect(writer, "create \(name) \(variant) \(4 << 20)", "ok")
      try run.expect(reader, "open \(name) participant", "participant")
      try run.expect(writer, "set k old", "ok")
      try run.expect(writer, "set-for k new 60", "ok")
      try run.expect(writer, "set-for swept new 60", "ok")
      try run.expect(writer, "set-for renewed old 60", "ok")
      let day = 86_400
      func both(_ command: String, _ expected: String) throws {
        for process in [writer, reader] { try run.expect(process, command, expected) }
      }

      try both("offset \(day)", "ok")
      for key in ["k", "swept", "renewed"] { try both("get \(key)", "nil") }
      try run.expect(writer, "set-for renewed new 60", "ok")
      try both("offset 0", "ok")
      // Back again: what nobody removed is there, the newest value and no older one, for as long as it was to last.
      try both("get k", "new")
      try both("get renewed", "new")

      try both("offset \(day)", "ok")
      let swept = Int(try writer.ask("sweep")) ?? -1
      try run.expect(swept == 2, "the sweep removed \(swept) keys")
      try both("offset \(-day)", "ok")
      for key in ["k", "swept"] { try both("get \(key)", "nil") }
      // Set while the clock is back, it ends by that clock.
      try run.expect(writer, "set-for late v 60", "ok")
      try both("get late", "v")
      try both("offset 0", "ok")
      try both("get late", "nil")

      // What measures time measures it by the monotonic clock: waits, their holders, the slots.
      try both("offset \(-day)", "ok")
      try run.expect(reader, "barrier", "inside")
      try run.expect(writer, "set k v 30", refusedAs: "timedOut", saying: "pid \(reader.pid)")
      try run.expect(reader, "end", "ended")
      let table = try Table.open(name, access: .participant)
      let longest = table.statistics.readers.compactMap(\.holder.heldNanoseconds).max() ?? 0
      try run.expect(longest < 3_600_000_000_000, "a slot is said to be held for \(longest) ns")
      try run.expect(writer, "check", "ok")
      for process in [writer, reader] { try process.finish() }
    }
  }
  run.row(
    "clocks a day forward and back, both variants", "values that expire, read, renewed and swept under each",
    "an expired value that nobody removed comes back with the time, never an older one; removed ones stay away; "
      + "waits and figures do not notice")
}

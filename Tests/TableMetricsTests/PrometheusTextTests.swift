import Glibc
import SharedTable
import TableTestSupport
import TestSupport
import Testing

@testable import TableMetrics

@Suite struct PrometheusTextTests {
  private func parsed(_ tables: TableFigures...) throws -> StrictParser {
    let text = PrometheusText.of(tables)
    #expect(try Promtool.complaint(about: text) == nil)
    return try StrictParser(text)
  }

  @Test(arguments: [Table.Variant.rcu, .rwlock])
  func figuresOfATableAreSaid(variant: Table.Variant) throws {
    try withTable(variant) { table in
      for index in 0..<300 { try table.set("k\(index)", String(repeating: "v", count: 3 * index)) }
      let figures = TableFigures(table)
      let text = try parsed(figures)
      let name = ["table": table.name]
      #expect(text.values("sharedtable_info", name.merging(["variant": "\(variant)"]) { $1 }) == [1])
      #expect(text.values("sharedtable_keys", name) == [300])
      #expect(text.values("sharedtable_commits_total", name) == [Double(figures.statistics.version)])
      // A table that comes back from its store goes on above 2^40: a counter that leapt would be an enormous rate.
      var restored = figures
      restored.statistics.version = (3 << 40) + 7
      #expect(try parsed(restored).values("sharedtable_commits_total", name) == [7])
      #expect(text.values("sharedtable_capacity_bytes", name) == [Double(16 << 20)])
      #expect(text.values("sharedtable_barrier_wait_seconds_count", name).first ?? 0 >= 300)
      #expect(text.values("sharedtable_needs_recovery", name) == [0])
      #expect(text.values("sharedtable_damaged", name) == [0])
      #expect(text.values("sharedtable_participants", name) == [1])
    }
  }

  @Test func memoryByKindAddsUpToTheCapacity() throws {
    try withTable(.rcu) { table in
      for index in 0..<2000 { try table.set("k\(index)", String(repeating: "v", count: index)) }
      for index in 0..<2000 where index % 2 == 0 { try table.remove("k\(index)") }
      let text = try parsed(TableFigures(table))
      let free = text.values("sharedtable_free_bytes", ["table": table.name])
      #expect(free.count == 4)
      #expect(text.values("sharedtable_free_bytes", ["kind": "slabs"]).first ?? 0 > 0)
      let sum = free.reduce(0, +) + (text.values("sharedtable_used_bytes").first ?? 0)
      // A slab's last bytes are too few for a block: of none of the sizes more than a sixteenth.
      #expect(sum <= Double(16 << 20) && sum >= Double(15 << 20))
    }
  }

  @Test func familiesOfSeveralTablesStandTogether() throws {
    try withTable(.rcu) { first in
      try withTable(.rwlock) { second in
        let text = try parsed(TableFigures(first), TableFigures(second))
        #expect(text.values("sharedtable_keys").count == 2)
        #expect(text.values("sharedtable_keys", ["table": second.name]) == [0])
      }
    }
  }

  @Test func anObserverSaysWhatItKnowsAndNothingElse() throws {
    try withTable(.rcu) { table in
      try table.set("k", "v")
      let observer = try Table.open(table.name, access: .observer)
      let text = try parsed(TableFigures(observer))
      #expect(text.values("sharedtable_keys") == [1])
      #expect(text.values("sharedtable_info", ["access": "observer"]) == [1])
      for name in ["used_bytes", "free_bytes", "damaged", "recoveries_total", "participants", "needs_recovery"] {
        #expect(text.values("sharedtable_" + name).isEmpty, "\(name)")
      }
      #expect(text.values("sharedtable_observers") == [1])
      withExtendedLifetime(observer) {}
    }
  }

  @Test func aDeadWritersTableNeedsRecoveryAndShowsNoLivingOne() throws {
    try withTable(.rcu) { table in
      let worker = try WorkerProcess("table-worker")
      try #require(try worker.ask("open \(table.name)") == "ok")
      try #require(try worker.ask("barrier") == "in")
      try #require(try worker.ask("set k v") == "ok")
      let during = TableFigures(table)
      #expect(during.statistics.writer?.pid == worker.pid && !during.statistics.needsRecovery)
      worker.kill(SIGKILL)
      _ = try worker.wait()
      let after = TableFigures(table)
      #expect(after.statistics.writer == nil && after.statistics.needsRecovery)
      let text = try parsed(after)
      #expect(text.values("sharedtable_needs_recovery") == [1])
      #expect(text.values("sharedtable_barrier_held_seconds") == [0])
      try table.set("k", "w")
      #expect(try parsed(TableFigures(table)).values("sharedtable_recoveries_total") == [1])
    }
  }

  @Test func aStalledSnapshotIsCountedAndItsEviction() throws {
    try withTableName { name in
      let table = try Table.create(
        name, Table.Options(capacityBytes: 4 << 20, limboBudgetBytes: 64 << 10, stalledReaderPolicy: .evict))
      let worker = try WorkerProcess("table-worker")
      try #require(try worker.ask("open \(name)") == "ok")
      let long = String(repeating: "v", count: 4000)
      for index in 0..<100 { try table.set("k\(index)", long) }
      try #require(try Int(worker.ask("snapshot")) != nil)
      try table.set("k0", "w")
      let lag = try parsed(TableFigures(table)).values("sharedtable_oldest_reader_lag_commits")
      #expect(lag.first ?? 0 >= 1)
      // What the snapshot sees is superseded, which is six times the budget.
      for index in 0..<100 { try table.set("k\(index)", "w") }
      #expect(try parsed(TableFigures(table)).values("sharedtable_evictions_total") == [1])
    }
  }

  @Test func labelsOfAnyTextSurvive() throws {
    for value in ["plain", #"a"b\c"#, "two\nlines", "\\n", "", "ü€😀", "} 1"] {
      var family = MetricFamily("x_total", .counter, #"Help with \ and "quotes"."#)
      family.add([("command", value)], 7)
      let sample = try #require(try StrictParser(PrometheusText.text(of: [family])).families.first?.samples.first)
      #expect(sample.labels == ["command": value] && sample.value == 7)
      #expect(try Promtool.complaint(about: PrometheusText.text(of: [family])) == nil)
    }
    var family = MetricFamily("x", .gauge, "Help.")
    family.add([("command", "a\u{1b}[31m\r")], 1)
    let labels = try StrictParser(PrometheusText.text(of: [family])).families.first?.samples.first?.labels
    #expect(labels == ["command": #"a\x1b[31m\x0d"#])
  }

  @Test func secondsAreExact() throws {
    for (nanoseconds, text) in [
      (UInt64(0), "0"), (1, "0.000000001"), (1_500_000_000, "1.5"), (2_000_000_000, "2"), (1 << 36, "68.719476736"),
    ] {
      var family = MetricFamily("x_seconds", .gauge, "Help.")
      family.add([], nanoseconds: nanoseconds)
      #expect(PrometheusText.text(of: [family]).contains("\nx_seconds \(text)\n"))
    }
  }

  @Test func theParserIsStrict() {
    for wrong in [
      "x 1", "# HELP x h\n# TYPE x counter\nx 1\n", "# HELP x h\n# TYPE x gauge\nx 1\nx 2\n",
      "# HELP x h\n# TYPE x gauge\ny 1\n", "# HELP x_ms h\n# TYPE x_ms gauge\nx_ms 1\n",
      "# HELP x h\n# TYPE x gauge\nx{a=\"\\q\"} 1\n", "# HELP x h\n# TYPE x gauge\nx{a=\"1\" 1\n",
      "# HELP x h\n# TYPE x histogram\nx_bucket{le=\"1\"} 2\nx_bucket{le=\"+Inf\"} 1\nx_count 1\n",
      "# HELP x h\n# TYPE x gauge\nx 1 \n",
      "# HELP x h\n# TYPE x histogram\nx_bucket{le=\"1\"} 2\nx_bucket{le=\"+Inf\"} 1\n",
      "# HELP x h\n# TYPE x histogram\nx_bucket{a=\"b\",le=\"+Inf\"} 1\nx_bucket{le=\"+Inf\"} 1\nx_count 1\n",
    ] {
      #expect(throws: StrictParser.Complaint.self, "\(wrong)") { _ = try StrictParser(wrong) }
    }
  }
}

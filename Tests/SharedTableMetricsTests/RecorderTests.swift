#if Metrics
  import Dispatch
  import Metrics
  import MetricsTestKit
  import SharedTable
  import SharedTableMetrics
  import TableTestSupport
  import TestSupport
  import Testing

  /// What swift-metrics is told of tables.
  @Suite struct RecorderTests {
    private func last(_ metrics: TestMetrics, _ name: String, _ table: Table) throws -> Double? {
      try metrics.expectMeter("sharedtable_" + name, [("table", table.name)]).values.last
    }

    @Test(arguments: Table.Variant.allCases) func metersSayWhatIsInTheTable(_ variant: Table.Variant) throws {
      try withTable(variant) { table throws in
        let metrics = TestMetrics()
        let recorder = TableRecorder([table], factory: metrics)
        for number in 0..<30 { try table.set("k\(number)", number) }
        recorder.record()
        #expect(try last(metrics, "keys", table) == 30)
        #expect(try last(metrics, "capacity_bytes", table) == Double(16 << 20))
        #expect(try last(metrics, "huge_bytes", table) == table.statistics.hugeBytes.map(Double.init))
        #expect(try last(metrics, "participants", table) == 1)
        #expect(try last(metrics, "damaged", table) == 0)
        #expect(try last(metrics, "barrier_held_seconds", table) == 0)
        try table.remove("k0")
        recorder.record()
        #expect(try last(metrics, "keys", table) == 29)
      }
    }

    @Test func freeRoomIsToldByItsKind() throws {
      try withTable(.rcu) { table throws in
        let metrics = TestMetrics()
        TableRecorder([table], factory: metrics).record()
        let memory = try #require(table.statistics.memory)
        for (kind, bytes) in [
          ("unclaimed", memory.unclaimed), ("superframes", memory.freeSuperframes), ("frames", memory.freeFrames),
          ("slabs", memory.freeInSlabs),
        ] {
          let meter = try metrics.expectMeter("sharedtable_free_bytes", [("table", table.name), ("kind", kind)])
          #expect(meter.values.last == Double(bytes), "\(kind)")
        }
      }
    }

    @Test func aReaderThatIsBehindAndTurnsThatWereWaitedForAreTold() throws {
      try withTable(.rcu) { table throws in
        let metrics = TestMetrics()
        let recorder = TableRecorder([table], factory: metrics)
        try table.set("k", 0)
        try table.read { _ in
          try TestThread { for number in 1...3 { try table.set("k", number) } }.join()
          recorder.record()
        }
        #expect(try last(metrics, "oldest_reader_lag_commits", table) == 3)
        #expect(
          try last(metrics, "barrier_most_turns_waited", table)
            == table.statistics.barrierWaits.map { Double($0.mostTurns) })
      }
    }

    @Test func aBarrierThatRunsIsHeld() throws {
      try withTable(.rcu) { table throws in
        let metrics = TestMetrics()
        let recorder = TableRecorder([table], factory: metrics)
        try table.barrier { _ in
          let begun = ContinuousClock.now
          while ContinuousClock.now == begun {}
          recorder.record()
        }
        #expect(try last(metrics, "barrier_held_seconds", table) ?? 0 > 0)
      }
    }

    @Test func countersBeginWithTheFirstLook() throws {
      try withTable(.rcu) { table throws in
        let metrics = TestMetrics()
        let recorder = TableRecorder([table], factory: metrics)
        for number in 0..<5 { try table.set("k", number) }
        recorder.record()
        for number in 0..<3 { try table.set("k", number) }
        recorder.record()
        recorder.record()
        let commits = try metrics.expectCounter("sharedtable_commits_total", [("table", table.name)])
        #expect(commits.values.reduce(0, +) >= 3)
        let first = try #require(commits.values.first)
        #expect(first < 5)
        let waits = metrics.counters(label: "sharedtable_barrier_waits_total")
        #expect(waits.map(\.totalValue).reduce(0, +) == 3)
      }
    }

    @Test func aBarrierThatWaitedIsCountedByItsBound() throws {
      try withTable(.rcu) { table throws in
        let metrics = TestMetrics()
        let recorder = TableRecorder([table], factory: metrics)
        recorder.record()
        var waiting: TestThread<Void>?
        try table.barrier { _ in
          waiting = TestThread { try table.set("k", 1) }
          waiting?.waitUntilAsleep()
        }
        try waiting?.join()
        recorder.record()
        let waited = metrics.counters(label: "sharedtable_barrier_waits_total").filter { counter in
          counter.totalValue > 0 && !counter.dimensions.contains { $0 == ("below", "0") }
        }
        #expect(waited.map(\.totalValue) == [1])
        // In the same words as in shmd's monitoring.
        let bounds = metrics.counters(label: "sharedtable_barrier_waits_total").flatMap(\.dimensions).filter {
          $0.0 == "below"
        }.map(\.1)
        #expect(bounds.contains("0.000001024") && bounds.contains("+Inf"))
        #expect(!bounds.contains { $0.contains("e") })
      }
    }

    @Test func anObserverSaysWhatItKnows() throws {
      try withTable(.rcu) { table throws in
        let metrics = TestMetrics()
        try table.set("k", 1)
        TableRecorder([try Table.open(table.name, access: .observer)], factory: metrics).record()
        #expect(try last(metrics, "keys", table) == 1)
        #expect(throws: (any Error).self) { try metrics.expectMeter("sharedtable_damaged", [("table", table.name)]) }
      }
    }

    @Test(.timeLimit(.minutes(20))) func aRunEndsWithItsTask() async throws {
      let table = try Table.temporary()
      let metrics = TestMetrics()
      let recorder = TableRecorder([table], factory: metrics)
      let run = Task { await recorder.run(every: .seconds(3600)) }
      while metrics.meters.isEmpty { await Task.yield() }
      run.cancel()
      await run.value
      #expect(try last(metrics, "keys", table) == 0)
    }

    @Test func groupsTellTheirSizes() throws {
      try withTable(.rcu) { table throws in
        let metrics = TestMetrics()
        let queue = try BarrierQueue(in: table, label: "org.example.groups")
        GroupRecorder.start(factory: metrics)
        let submitted = DispatchSemaphore(value: 0)
        try queue.async(flags: .barrier) { _ in submitted.wait() }
        for number in 1..<10 { try queue.async(flags: .barrier) { tx in try tx.set("k", number) } }
        submitted.signal()
        try queue.flush()
        // Whoever waits for a barrier may go on before its group is recorded.
        func sizes() throws -> [Int64] {
          try metrics.expectRecorder(
            "sharedtable_group_size", [("table", table.name), ("queue", "org.example.groups")]
          ).values.map { Int64($0) }
        }
        #expect(eventually { (try? sizes().reduce(0, +)) == 10 })
        GroupRecorder.stop()
        try queue.async(flags: .barrier) { _ in }
        try queue.flush()
        #expect(try sizes().reduce(0, +) == 10)
        #expect(try sizes().max() ?? 0 > 1)
      }
    }
  }
#endif

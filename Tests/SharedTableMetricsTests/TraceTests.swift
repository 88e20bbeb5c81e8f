#if Metrics
  import Glibc
  import InMemoryTracing
  import SharedTable
  import SharedTableMetrics
  import TableTestSupport
  import TestSupport
  import Testing
  import Tracing

  /// Sections as spans.
  @Suite struct TraceTests {
    private struct Thrown: Error {}

    @Test(arguments: Table.Variant.allCases) func aSectionIsASpan(_ variant: Table.Variant) throws {
      try withTable(variant) { table throws in
        let tracer = InMemoryTracer()
        try withTracer(tracer) { () throws in
          let traced = table.traced("refill")
          #expect(try traced.barrier { tx in try tx.increment("k") } == 1)
          #expect(try traced.read { view in try view.get("k", as: Int.self) } == 1)
        }
        #expect(tracer.finishedSpans.map { text($0, "sharedtable.section") } == ["barrier", "read"])
        check(tracer.finishedSpans, of: table)
      }
    }

    @Test(arguments: Table.Variant.allCases) func anAwaitedBarrierIsASpan(_ variant: Table.Variant) async throws {
      try await withTable(variant) { table throws in
        let tracer = InMemoryTracer()
        let sum = try await withTracer(tracer) {
          try await table.traced("refill").barrier { tx in try tx.increment("k") }
        }
        #expect(sum == 1)
        #expect(tracer.finishedSpans.map { text($0, "sharedtable.section") } == ["barrier"])
        check(tracer.finishedSpans, of: table)
      }
    }

    private func check(_ spans: [FinishedInMemorySpan], of table: Table) {
      for span in spans {
        #expect(span.operationName == "refill")
        #expect(text(span, "sharedtable.table") == table.name)
        #expect(number(span, "sharedtable.wait_ns") ?? -1 >= 0)
        #expect(span.errors.isEmpty)
      }
    }

    @Test func whatItThrowsIsInTheSpan() throws {
      try withTable(.rcu) { table throws in
        let tracer = InMemoryTracer()
        withTracer(tracer) {
          #expect(throws: Thrown.self) { try table.traced("fail").barrier { _ in throw Thrown() } }
          #expect(throws: TableError.self) {
            try table.traced("nested").read { _ in try table.traced("inner").barrier { _ in } }
          }
        }
        let byName = Dictionary(uniqueKeysWithValues: tracer.finishedSpans.map { ($0.operationName, $0) })
        #expect(byName["fail"]?.errors.count == 1)
        let inner = try #require(byName["inner"])
        #expect(text(inner, "sharedtable.error") == "wouldDeadlock")
        // Its closure never began.
        #expect(number(inner, "sharedtable.wait_ns") == nil)
        #expect(byName["nested"]?.errors.count == 1)
        #expect(try table.get("k", as: Int.self) == nil)
      }
    }

    @Test func whoWasInTheWayIsInTheSpan() throws {
      try withTable(.rcu) { table throws in
        let tracer = InMemoryTracer()
        let (held, over) = (Counter(), Counter())
        let holder = TestThread {
          try table.barrier { _ in
            held.increment()
            while over.value == 0 { sched_yield() }
          }
        }
        while held.value == 0 { sched_yield() }
        _ = withTracer(tracer) {
          #expect(throws: TableError.self) { try table.traced("late").barrier(timeout: .zero) { _ in } }
        }
        over.increment()
        try holder.join()
        let span = try #require(tracer.finishedSpans.first)
        #expect(text(span, "sharedtable.error") == "timedOut")
        #expect(number(span, "sharedtable.holder.pid") == Int64(getpid()))
      }
    }

    private func text(_ span: FinishedInMemorySpan, _ name: String) -> String? {
      guard case .string(let text) = span.attributes.get(name) else { return nil }
      return text
    }

    private func number(_ span: FinishedInMemorySpan, _ name: String) -> Int64? {
      guard case .int64(let number) = span.attributes.get(name) else { return nil }
      return number
    }
  }
#endif

#if Metrics
  public import SharedTable
  import Tracing

  extension Table {
    /// The table, with a span of swift-distributed-tracing around each section.
    ///
    /// ```swift
    /// try table.traced("refill").barrier { tx in try tx.set("stock", 100) }
    /// ```
    /// - Parameter operation: the spans' name.
    public func traced(_ operation: String) -> TracedTable { TracedTable(table: self, operation: operation) }
  }

  /// A table whose sections are spans: each tells its table (`sharedtable.table`), what it is (`sharedtable.section`: read or barrier) and
  /// how long it waited before its closure began (`sharedtable.wait_ns`).
  ///
  /// What it throws is recorded in the span; of a ``SharedTable/TableError`` also its code (`sharedtable.error`) and, where it names one, who
  /// was in the way (`sharedtable.holder.pid`, `sharedtable.holder.command`).
  public struct TracedTable: Sendable {
    /// What is traced.
    public let table: Table
    /// The spans' name.
    public let operation: String

    /// As ``SharedTable/Table/read(timeout:_:)``.
    public func read<R>(timeout: Duration? = nil, _ body: (borrowing ReadView) throws -> R) throws -> R {
      try withSpan(operation) { span in
        let section = SectionSpan(span, table, "read")
        return try section.recording {
          try table.read(timeout: timeout) { view in
            section.begin()
            return try body(view)
          }
        }
      }
    }

    /// As `Table.barrier(timeout:_:)`.
    public func barrier<R>(timeout: Duration? = nil, _ body: (inout Transaction) throws -> R) throws -> R {
      try withSpan(operation) { span in
        let section = SectionSpan(span, table, "barrier")
        return try section.recording {
          try table.barrier(timeout: timeout) { tx in
            section.begin()
            return try body(&tx)
          }
        }
      }
    }

    /// As the awaited form of `Table.barrier(timeout:_:)`: suspends.
    nonisolated(nonsending) public func barrier<R: Sendable>(
      timeout: Duration? = nil, _ body: @escaping @Sendable (inout Transaction) throws -> R
    ) async throws -> R {
      try await withSpan(operation) { span in
        let section = SectionSpan(span, table, "barrier")
        do {
          return try await table.barrier(timeout: timeout) { tx in
            section.begin()
            return try body(&tx)
          }
        } catch {
          section.note(error)
          throw error
        }
      }
    }
  }

  /// What a span says of its section.
  private struct SectionSpan: Sendable {
    private let span: any Span
    private let asked = ContinuousClock.now

    init(_ span: any Span, _ table: Table, _ section: String) {
      self.span = span
      span.attributes["sharedtable.table"] = table.name
      span.attributes["sharedtable.section"] = section
    }

    /// The wait is over.
    func begin() {
      let waited = (ContinuousClock.now - asked).components
      span.attributes["sharedtable.wait_ns"] = waited.seconds * 1_000_000_000 + waited.attoseconds / 1_000_000_000
    }

    func recording<R>(_ body: () throws -> R) throws -> R {
      do { return try body() } catch {
        note(error)
        throw error
      }
    }

    func note(_ error: any Error) {
      guard let error = error as? TableError else { return }
      span.attributes["sharedtable.error"] = "\(error.code)"
      guard let holder = error.holder else { return }
      span.attributes["sharedtable.holder.pid"] = Int64(holder.pid)
      span.attributes["sharedtable.holder.command"] = holder.command
    }
  }
#endif

#if Metrics
  public import Metrics
  public import SharedTable
  import Synchronization

  /// Tells swift-metrics how tables are: what is in them, who holds and waits, how often snapshots were evicted.
  ///
  /// ```swift
  /// let recorder = TableRecorder([table])
  /// await recorder.run(every: .seconds(10))  // until the task is cancelled
  /// ```
  /// The figures are the table's, not the process's: every process that records a table says the same. The table counts them
  /// anyway; they are looked at here, and no read or barrier does anything for it. The names are those of `shmctl stat --prometheus`, with
  /// the table's name as a dimension; but there the waits are a histogram, and participants are counted by command.
  ///
  /// Meters: `sharedtable_keys`, `_capacity_bytes`, `_claimed_bytes`, `_huge_bytes`, `_used_bytes`, `_limbo_bytes`, `_limbo_budget_bytes`,
  /// `_free_bytes` with the dimension `kind` (unclaimed, superframes, frames, slabs), `_barrier_held_seconds`, `_barrier_most_turns_waited`,
  /// `_oldest_reader_age_seconds`, `_oldest_reader_lag_commits`, `_stalled_readers`, `_participants`, `_observers`, `_needs_recovery`,
  /// `_damaged`. Counters, from the recorder's first look on: `sharedtable_commits_total`, `_recoveries_total`,
  /// `_evictions_total`, `_barrier_waits_total` with the dimension `below` (seconds, `+Inf`): how many barriers waited that long, and
  /// not less than the bound before. What an observer cannot know is left out.
  public final class TableRecorder: Sendable {
    private let looks: Mutex<[TableLook]>

    /// Makes a recorder and its meters; looks at no table yet. Never blocks.
    /// - Parameters:
    ///   - tables: by whose handles to look; it keeps them.
    ///   - factory: where to; `MetricsSystem.factory` unless given.
    public init(_ tables: [Table], factory: any MetricsFactory = MetricsSystem.factory) {
      looks = Mutex(tables.map { TableLook($0, factory) })
    }

    /// Looks at each table once. Blocks nobody; the work grows with the tables' claimed size.
    public func record() {
      looks.withLock { looks in
        for index in looks.indices { looks[index].record() }
      }
    }

    /// Looks at each table at once and then again and again, as ``record()`` does, until the task is cancelled; it suspends between two
    /// looks, and throws nothing.
    /// - Parameter interval: from the end of one look to the next.
    public func run(every interval: Duration = .seconds(10)) async {
      while !Task.isCancelled {
        record()
        try? await Task.sleep(for: interval)
      }
    }
  }
#endif

#if Metrics
  import Metrics
  import SharedTable
  import TableMetrics

  /// One table's metrics, and what its counters had come to at the last look.
  struct TableLook {
    private let table: Table
    private let factory: any MetricsFactory
    /// By name and second dimension.
    private var meters: [String: Meter] = [:]
    private var counters: [String: (counter: Counter, total: UInt64)] = [:]

    init(_ table: Table, _ factory: any MetricsFactory) {
      self.table = table
      self.factory = factory
    }

    mutating func record() {
      let figures = TableFigures(table)
      recordMemory(figures)
      recordHolders(figures)
      recordEvents(figures)
    }

    private mutating func recordMemory(_ figures: TableFigures) {
      let statistics = figures.statistics
      meter("keys", statistics.keyCount)
      meter("capacity_bytes", statistics.capacityBytes)
      meter("claimed_bytes", statistics.claimedBytes)
      meter("huge_bytes", statistics.hugeBytes)
      meter("used_bytes", statistics.usedBytes)
      meter("limbo_bytes", statistics.limboBytes)
      for (kind, bytes) in figures.freeBytes { find("free_bytes", ("kind", kind)).set(bytes) }
      if !table.isObserver { meter("limbo_budget_bytes", statistics.limboBudgetBytes) }
    }

    private mutating func recordHolders(_ figures: TableFigures) {
      meter("observers", figures.statistics.observers)
      if table.isObserver { return }
      meter("barrier_held_seconds", seconds: figures.statistics.writer?.heldNanoseconds ?? 0)
      if let turns = figures.statistics.barrierWaits?.mostTurns { find("barrier_most_turns_waited").set(turns) }
      meter("oldest_reader_age_seconds", seconds: figures.oldestReaderNanoseconds)
      find("oldest_reader_lag_commits").set(figures.oldestReaderLag)
      meter("stalled_readers", figures.stalledReaders.count)
      meter("participants", figures.processes.count)
      meter("needs_recovery", figures.statistics.needsRecovery ? 1 : 0)
      meter("damaged", figures.statistics.isDamaged ? 1 : 0)
    }

    private mutating func recordEvents(_ figures: TableFigures) {
      count("commits_total", figures.statistics.commitCount)
      count("recoveries_total", figures.statistics.recoveries)
      count("evictions_total", figures.statistics.evictions)
      for bucket in figures.barrierWaitBuckets ?? [] {
        let below = bucket.belowNanoseconds.map(MetricFamily.seconds) ?? "+Inf"
        count("barrier_waits_total", bucket.count, below: below)
      }
    }

    // MARK: - Metrics by their names

    private mutating func meter(_ name: String, _ value: Int?) {
      if let value { find(name).set(value) }
    }

    private mutating func meter(_ name: String, seconds nanoseconds: UInt64) {
      find(name).set(Double(nanoseconds) / 1e9)
    }

    private mutating func find(_ name: String, _ dimension: (String, String)? = nil) -> Meter {
      let key = name + (dimension?.1 ?? "")
      if let meter = meters[key] { return meter }
      let dimensions = [("table", table.name)] + (dimension.map { [$0] } ?? [])
      let meter = Meter(label: "sharedtable_" + name, dimensions: dimensions, factory: factory)
      meters[key] = meter
      return meter
    }

    /// The first look says from where on to count.
    private mutating func count(_ name: String, _ total: UInt64?, below: String? = nil) {
      guard let total else { return }
      let key = name + (below ?? "")
      guard let known = counters[key] else {
        let dimensions = [("table", table.name)] + (below.map { [("below", $0)] } ?? [])
        counters[key] = (Counter(label: "sharedtable_" + name, dimensions: dimensions, factory: factory), total)
        return
      }
      if total > known.total { known.counter.increment(by: total - known.total) }
      counters[key]?.total = total
    }
  }
#endif

import SharedTable

/// Tables' figures in the Prometheus text format 0.0.4, for `shmctl stat --prometheus` and for `shmd`.
///
/// Durability is not in it: a table does not know of its store; the daemon adds families of its own.
public enum PrometheusText {
  /// What an HTTP answer calls it.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  public static func of(_ tables: [TableFigures]) -> String { text(of: families(of: tables)) }

  public static func text(of families: [MetricFamily]) -> String {
    families.filter { !$0.isEmpty }.map(\.text).joined()
  }

  /// Each with a sample a table, or several.
  public static func families(of tables: [TableFigures]) -> [MetricFamily] {
    contents(tables) + memory(tables) + barriers(tables) + readers(tables) + participants(tables)
  }

  private typealias Label = MetricFamily.Label

  private static func family(
    _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ tables: [TableFigures],
    _ value: (TableFigures) -> (some BinaryInteger)?
  ) -> MetricFamily {
    var family = MetricFamily("sharedtable_" + name, kind, help)
    for table in tables {
      if let value = value(table) { family.add([("table", table.table)], value) }
    }
    return family
  }

  private static func contents(_ tables: [TableFigures]) -> [MetricFamily] {
    var info = MetricFamily("sharedtable_info", .gauge, "A table; 1.")
    for table in tables {
      info.add(
        [
          ("table", table.table), ("variant", "\(table.variant)"),
          ("access", table.isObserver ? "observer" : "participant"),
        ], 1)
    }
    return [
      info,
      family("keys", .gauge, "Keys, those included that have expired and that nobody removed yet.", tables) {
        $0.statistics.keyCount
      },
      family(
        "commits_total", .counter, "Versions since the table was made or restored: barriers, and reclaiming.", tables
      ) {
        $0.statistics.commitCount
      },
      family("damaged", .gauge, "1 after damage that recovery could not repair.", tables.filter { !$0.isObserver }) {
        $0.statistics.isDamaged ? 1 : 0
      },
    ]
  }

  private static func memory(_ tables: [TableFigures]) -> [MetricFamily] {
    var free = MetricFamily(
      "sharedtable_free_bytes", .gauge,
      "Free room: unclaimed in /dev/shm; superframes for anything; frames and slabs beside what is in use (fragments).")
    for table in tables {
      for (kind, bytes) in table.freeBytes { free.add([("table", table.table), ("kind", kind)], bytes) }
    }
    return [
      family("capacity_bytes", .gauge, "What the table may hold, entries and index.", tables) {
        $0.statistics.capacityBytes
      },
      family("claimed_bytes", .gauge, "Memory taken from /dev/shm for the data object.", tables) {
        $0.statistics.claimedBytes
      },
      family(
        "huge_bytes", .gauge, "Of the claimed memory, what was backed by huge pages when the table last grew.", tables
      ) {
        $0.statistics.hugeBytes
      },
      family("used_bytes", .gauge, "Blocks and frames in use, old versions included.", tables) {
        $0.statistics.usedBytes
      },
      free,
      family("limbo_bytes", .gauge, "Deleted and old values that are not reused yet.", tables) {
        $0.statistics.limboBytes
      },
      family("limbo_budget_bytes", .gauge, "What readers may keep before the table's policy acts.", tables) {
        $0.statistics.limboBudgetBytes
      },
    ]
  }

  private static func barriers(_ tables: [TableFigures]) -> [MetricFamily] {
    var waits = MetricFamily(
      "sharedtable_barrier_wait_seconds", .histogram,
      "How long barriers waited for those before them; without a sum. Waits in vain are not counted.")
    var held = MetricFamily(
      "sharedtable_barrier_held_seconds", .gauge, "How long the barrier that runs has run; 0: none.")
    for table in tables where !table.isObserver {
      let label: [Label] = [("table", table.table)]
      if let buckets = table.barrierWaitBuckets { waits.add(label, buckets: buckets) }
      held.add(label, nanoseconds: table.statistics.writer?.heldNanoseconds ?? 0)
    }
    return [
      waits, held,
      family("barrier_most_turns_waited", .gauge, "The most turns of others that one barrier waited for.", tables) {
        $0.statistics.barrierWaits?.mostTurns
      },
      family("recoveries_total", .counter, "Dead writers whose work was undone or finished.", tables) {
        $0.statistics.recoveries
      },
      family(
        "needs_recovery", .gauge, "1 while the work of a dead writer waits for the next barrier.",
        tables.filter { !$0.isObserver }
      ) { $0.statistics.needsRecovery ? 1 : 0 },
    ]
  }

  private static func readers(_ tables: [TableFigures]) -> [MetricFamily] {
    let inside = tables.filter { !$0.isObserver }
    var age = MetricFamily(
      "sharedtable_oldest_reader_age_seconds", .gauge,
      "For how long the oldest reader is known to have read; 0 without readers.")
    for table in inside { age.add([("table", table.table)], nanoseconds: table.oldestReaderNanoseconds) }
    return [
      age,
      family("oldest_reader_lag_commits", .gauge, "Commits that the oldest reader is behind.", inside) {
        $0.oldestReaderLag
      },
      family("stalled_readers", .gauge, "Readers that have kept old versions for 200 ms or longer.", inside) {
        $0.stalledReaders.count
      },
      family("evictions_total", .counter, "Snapshots that were ended for what they kept.", inside) {
        $0.statistics.evictions
      },
    ]
  }

  private static func participants(_ tables: [TableFigures]) -> [MetricFamily] {
    var processes = MetricFamily("sharedtable_participants", .gauge, "Processes that take part, by command.")
    var threads = MetricFamily("sharedtable_participant_threads", .gauge, "Their threads that hold a slot, by command.")
    for table in tables where !table.isObserver {
      let byCommand = Dictionary(grouping: table.processes, by: \.command)
      for command in byCommand.keys.sorted() {
        let labels: [Label] = [("table", table.table), ("command", command)]
        processes.add(labels, byCommand[command]?.count ?? 0)
        threads.add(labels, byCommand[command]?.reduce(0) { $0 + $1.threads } ?? 0)
      }
    }
    return [
      processes, threads,
      family("observers", .gauge, "Handles that observe, where the system tells.", tables) { $0.statistics.observers },
    ]
  }
}

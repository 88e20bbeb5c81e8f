import SharedTable
import TableMetrics

/// The daemon's own families beside those of its tables.
enum DaemonMetrics {
  /// What `/health` would answer at this moment. Not in ``text(_:)``, which is made once a sample: where no other sample comes, this one is too old.
  static func health(_ sample: HostSample, now: UInt64) -> String {
    let isHealthy = HealthReport(sample, now: now).reasons.isEmpty
    return PrometheusText.text(of: [family("healthy", .gauge, "1 if /health answers 200.", isHealthy ? 1 : 0)])
  }

  static func text(_ sample: HostSample) -> String {
    PrometheusText.text(
      of: PrometheusText.families(of: sample.tables.map(\.figures)) + tables(sample) + work(sample.counters)
        + stores(sample) + mirrors(sample))
  }

  private static func family(
    _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: some BinaryInteger
  ) -> MetricFamily {
    var family = MetricFamily("shmd_" + name, kind, help)
    family.add([], value)
    return family
  }

  private static func tables(_ sample: HostSample) -> [MetricFamily] {
    var blocked = MetricFamily("shmd_table_blocked", .gauge, "1: a configured table that cannot be had.")
    for table in sample.blocked { blocked.add([("table", table.table)], 1) }
    var troubled = MetricFamily("shmd_table_in_trouble", .gauge, "1: the daemon cannot look after the table.")
    for table in sample.tables { troubled.add([("table", table.name)], table.trouble == nil ? 0 : 1) }
    var took = MetricFamily(
      "shmd_sample_duration_seconds", .gauge, "How long it took to look at all tables for these figures.")
    took.add([], nanoseconds: sample.tookNanoseconds)
    var taken = MetricFamily("shmd_sample_timestamp_seconds", .gauge, "When these figures were taken.")
    taken.add([], nanoseconds: sample.wallNanoseconds)
    return [
      family("tables_kept", .gauge, "Configured tables in care.", sample.tables.count),
      family("tables_blocked", .gauge, "Configured tables that cannot be had.", sample.blocked.count),
      blocked, troubled, took, taken,
    ]
  }

  private static func work(_ counters: DaemonCounters.Values) -> [MetricFamily] {
    var reloads = MetricFamily("shmd_reloads_total", .counter, "Reloads of the configuration.")
    reloads.add([("result", "accepted")], counters.reloads)
    reloads.add([("result", "refused")], counters.refusedReloads)
    return [
      family("rounds_total", .counter, "Rounds of care for all tables.", counters.rounds),
      family("expired_keys_removed_total", .counter, "Expired keys that the daemon removed.", counters.expiredKeys),
      family(
        "recoveries_noticed_total", .counter, "Dead writers whose work was undone or finished, by whomever.",
        counters.recoveries),
      family(
        "dead_participants_total", .counter, "Slots of ended participants that the daemon freed.",
        counters.deadParticipants),
      reloads,
    ]
  }

  private static func mirrors(_ sample: HostSample) -> [MetricFamily] {
    var following = MetricFamily("shmd_mirror_following", .gauge, "1 while changes of the other store come.")
    var lag = MetricFamily(
      "shmd_mirror_lag_seconds", .gauge, "How old the table may be, at most; missing where it never was whole.")
    var revision = MetricFamily("shmd_mirror_revision", .gauge, "The other store's revision that the table is.")
    var revisions = MetricFamily("shmd_mirror_revisions_total", .counter, "Revisions applied, each as a barrier.")
    var reads = MetricFamily("shmd_mirror_reads_total", .counter, "How often all keys of the prefix were read.")
    var sessions = MetricFamily("shmd_mirror_sessions_total", .counter, "How often the mirror began to follow.")
    for mirror in sample.mirrors {
      let labels = [("table", mirror.table)]
      following.add(labels, mirror.report.state == .following ? 1 : 0)
      if let nanoseconds = mirror.lagNanoseconds { lag.add(labels, nanoseconds: nanoseconds) }
      revision.add(labels, mirror.report.revision)
      revisions.add(labels, mirror.report.revisions)
      reads.add(labels, mirror.report.reads)
      sessions.add(labels, mirror.report.sessions)
    }
    return [following, lag, revision, revisions, reads, sessions]
  }

  private static func stores(_ sample: HostSample) -> [MetricFamily] {
    var lag = MetricFamily(
      "shmd_store_lag_seconds", .gauge, "For how long there has been something that is not on the disk.")
    var overdue = MetricFamily(
      "shmd_store_overdue_seconds", .gauge, "By how much that is longer than the table's durability has it.")
    var behind = MetricFamily("shmd_store_behind_commits", .gauge, "Commits that are not on the disk.")
    var failing = MetricFamily("shmd_store_failing", .gauge, "1 while nothing can be stored.")
    for (table, status) in sample.stores {
      lag.add([("table", table)], nanoseconds: status.lag.clampedNanoseconds)
      overdue.add([("table", table)], nanoseconds: status.overdue.clampedNanoseconds)
      behind.add([("table", table)], status.version > status.durable ? status.version - status.durable : 0)
      failing.add([("table", table)], status.error == nil ? 0 : 1)
    }
    return [lag, overdue, behind, failing]
  }
}

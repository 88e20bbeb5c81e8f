import Logging
import SharedMemory
import SharedTable

/// The regular care: one round over all tables, each step bounded. It waits for no barrier for longer than 10 ms.
extension TableKeeper {
  /// How long one table may hold up a round with expiry, and how long a barrier of ours waits for others.
  private static let sweepNanoseconds: UInt64 = 10_000_000
  private static let barrierTimeout = Duration.milliseconds(10)
  /// How long one table may hold up a round with giving memory back.
  private static let shrinkNanoseconds: UInt64 = 50_000_000
  private static let hugePagesRestNanoseconds: UInt64 = 60_000_000_000
  /// Reclaiming passes a round, each of which frees at most some thousand versions.
  private static let reclaimPasses = 4

  /// Looks after every table once.
  /// - Parameter beat: called after each table: a sign that the loop really goes on.
  public func lookAfterTables(beat: @Sendable () -> Void) {
    letGoOfLostNames()
    takeFreedNames(beat)
    for index in tables.indices {
      lookAfter(&tables[index])
      beat()
    }
    followTables(beat)
    counters.count(\.rounds)
    beat()
  }

  /// Nothing but a sign of life of the thread.
  func beat(_ beat: @Sendable () -> Void) { beat() }

  private func lookAfter(_ managed: inout ManagedTable) {
    do throws(TableError) {
      try noticeDead(managed)
      try reclaimAndNoticeRecoveries(&managed)
      try expire(&managed)
      try tidyMemory(&managed)
      if managed.trouble != nil {
        log.notice("table in order again", metadata: ["table": "\(managed.name)"])
        managed.trouble = nil
      }
    } catch {
      // A busy table is no trouble: the next round comes.
      if error.code == .timedOut { return }
      let (known, trouble) = (managed.trouble, managed.configuration.trouble(error))
      managed.trouble = trouble
      if known?.code == trouble.code { return }
      log.error("table in trouble", metadata: ["table": "\(managed.name)", "problem": "\(trouble.message)"])
    }
  }

  /// Takes out of care the tables of which someone outside removed or replaced a name. They are blocked until they are made anew, mostly in
  /// the same round. Their memory is given back only when no process has it mapped: were the daemon to keep it, there might be no room for the new
  /// ones. Of a durable table its keeper has it until all is stored.
  private func letGoOfLostNames() {
    var named: [ManagedTable] = []
    for managed in tables {
      if managed.table.administration.isNamed {
        named.append(managed)
        continue
      }
      log.warning(
        "table's name is gone: removed outside, who has it open keeps what was in it",
        metadata: ["table": "\(managed.name)"])
      blocked.append(
        BlockedTable(configuration: managed.configuration, trouble: Trouble(.unlinked, "its name is gone")))
    }
    tables = named
  }

  /// Makes, or attaches to, the tables that could not be had so far.
  private func takeFreedNames(_ beat: @Sendable () -> Void) {
    blocked = blocked.compactMap { waiting in
      let configuration = waiting.configuration
      // An object that is half made is waited for, and there may be many.
      defer { beat() }
      do throws(TableError) {
        let found = try attachOrCreate(configuration, beat)
        tables.append(found)
        stores.begin(configuration, found.table)
        return nil
      } catch {
        let trouble = configuration.trouble(error)
        if trouble.code != waiting.trouble.code { return wait(for: configuration, trouble) }
        return BlockedTable(configuration: configuration, trouble: trouble)
      }
    }
  }

  // MARK: - Steps

  private func attachOrCreate(
    _ configuration: TableConfiguration, _ beat: @Sendable () -> Void
  ) throws(TableError) -> ManagedTable {
    if let other = try attachOther(configuration) { return other }
    do throws(TableError) {
      return ManagedTable(configuration, try create(configuration, beat))
    } catch {
      // A program may have made one while the last of the table before was stored.
      guard error.code == .exists, let other = try attachOther(configuration) else { throw error }
      return other
    }
  }

  /// The table that someone else has made under the name, with the rights and limits of the file; said where it is not as the file says.
  private func attachOther(_ configuration: TableConfiguration) throws(TableError) -> ManagedTable? {
    let plan = Plan(Configuration(file: configuration.file, tables: [configuration]), access: .participant)
    if let problem = plan.problems.first {
      throw TableError(.system, table: configuration.name, "cannot be had as the file says: \(problem.message)")
    }
    switch plan.steps.first {
    case .keep(_, let table, let refused):
      var other = ManagedTable(configuration, table, refused: refused)
      try other.adjust(to: configuration, log)
      for change in refused { log.error("\(change)") }
      log.warning("table was made anew by someone else, attached", metadata: describe(table))
      return other
    case .wait(_, let error): throw error
    case .create, nil: return nil
    }
  }

  private func noticeDead(_ managed: ManagedTable) throws(TableError) {
    for holder in try managed.table.administration.clearDeadReaders() {
      counters.count(\.deadParticipants)
      // Every command that ends is one: news to who looks for something, not to each reader of the journal.
      log.debug(
        "participant ended, its slot is free",
        metadata: ["table": "\(managed.name)", "pid": "\(holder.pid)", "command": "\(holder.command)"])
    }
  }

  /// The engine reclaims, and first recovers if a writer has died. Whoever came by may have recovered: all recoveries are counted.
  private func reclaimAndNoticeRecoveries(_ managed: inout ManagedTable) throws(TableError) {
    _ = try managed.table.administration.maintain(passes: Self.reclaimPasses)
    let recoveries = managed.table.administration.recoveryCount ?? 0
    if recoveries != managed.recoveries {
      counters.count(\.recoveries, recoveries &- managed.recoveries)
      managed.recoveries = recoveries
      log.warning(
        "a writer died in its barrier; its work was undone or finished",
        metadata: ["table": "\(managed.name)", "recoveries": "\(recoveries)"])
    }
  }

  /// Goes on with the sweep for expired keys until that is over, or its time in this round is.
  private func expire(_ managed: inout ManagedTable) throws(TableError) {
    // A mirror holds what the other store holds.
    if managed.table.isMirror { return }
    let end = HostClock.monotonicNanoseconds + Self.sweepNanoseconds
    var removed = 0
    defer {
      if removed > 0 {
        counters.count(\.expiredKeys, UInt64(removed))
        log.debug("expired keys removed", metadata: ["table": "\(managed.name)", "keys": "\(removed)"])
      }
    }
    repeat {
      removed += try managed.table.administration.sweepExpired(&managed.sweep, timeout: Self.barrierTimeout)
    } while !managed.sweep.isAtEnd && HostClock.monotonicNanoseconds < end
    if managed.sweep.isAtEnd { managed.sweep = Table.ExpirySweep() }
  }

  /// Backs the table by huge pages, and gives back what it does not need, if nobody wrote since the last round: what is given
  /// back to a table in use is soon claimed again.
  private func tidyMemory(_ managed: inout ManagedTable) throws(TableError) {
    defer { managed.version = managed.table.version }
    guard managed.version == managed.table.version else { return }
    try backGrowthByHugePages(&managed)
    let end = HostClock.monotonicNanoseconds + Self.shrinkNanoseconds
    var bytes = 0
    while let step = try managed.table.administration.shrink() {
      bytes += step.bytesGivenBack
      if !step.isUnfinished || HostClock.monotonicNanoseconds >= end { break }
    }
    if bytes > 0 {
      log.debug("memory given back", metadata: ["table": "\(managed.name)", "bytes": "\(bytes)"])
    }
  }

  /// Where the kernel refuses, and where all is backed, it is asked again when the table is of another size, or in a minute: a
  /// host that has no huge page to give now may have one then.
  private func backGrowthByHugePages(_ managed: inout ManagedTable) throws(TableError) {
    let now = HostClock.monotonicNanoseconds
    let claimed = managed.table.administration.claimedBytes
    if let rest = managed.hugePagesRest, rest.claimedBytes == claimed, now < rest.end { return }
    let isDone = try managed.table.administration.backGrowthByHugePages() == 0
    managed.hugePagesRest = isDone ? (claimed, now + Self.hugePagesRestNanoseconds) : nil
  }
}

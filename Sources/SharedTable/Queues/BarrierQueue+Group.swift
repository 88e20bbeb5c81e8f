import SharedMemory

/// Group commit: asynchronous barriers that follow each other share one barrier of the table.
///
/// The table's barrier is what costs (the lock, the journal, the publishing), and a burst would pay for it once an
/// item. Each item keeps what a barrier of its own would give it: it sees what those before it did, it is undone by
/// itself if it throws (a savepoint), and it is told of its end when its changes are visible. What they share is the
/// moment at which they become visible, and the fate of the table's barrier: if that cannot begin, or the process dies
/// in it, none of them happened. A group is bounded in items and time, for other processes wait meanwhile.
///
/// As group commit in databases: DeWitt et al., "Implementation Techniques for Main Memory Database Systems" (1984).
extension BarrierQueue {
  /// The most barriers in one of the table.
  static var groupLimit: Int { 256 }
  /// For how long a group takes up further ones.
  static var groupNanoseconds: UInt64 { 1_000_000 }

  private static var postpones: Bool {
    true
  }

  /// What became of the barriers of a turn.
  private struct Group {
    /// Of those whose barrier on the table has begun, in their order.
    var announcements: [Announcement] = []
    /// Begun anew, alone: it met `full` among others, who may have been what there was no room for.
    var postponed: BarrierWork?
    /// The last of them waits for the readers of before this version.
    var waiting: (work: BarrierWork, version: UInt64, announcement: Announcement)?
  }

  /// On a worker thread: runs the barrier whose turn it is, and those that follow it.
  func run(_ first: BarrierWork) {
    var group = Group(postponed: first)
    let wait = Deadline(table.nanoseconds(first.timeout))
    while let leader = group.postponed.take() { runGroup(of: leader, &group) }
    withOrder { order in
      order.endTurn()
      order.finishBarrier()
    }
    for announce in group.announcements { announce() }
    guard let (work, version, announcement) = group.waiting else { return }
    do throws(TableError) {
      try waitAfterCommit(of: version, wait)
      announcement()
    } catch {
      work.fail(error)
    }
  }

  private func runGroup(of leader: BarrierWork, _ group: inout Group) {
    let newest = withOrder { $0.newest }
    do throws(TableError) {
      try beginBarrier(leader.timeout)
    } catch {
      return fail(leader, upTo: newest, error, &group)
    }
    let version = table.segment.versionInBarrier
    let end = HostClock.monotonicNanoseconds &+ Self.groupNanoseconds
    table.runBarrier { tx in
      var next: BarrierWork? = leader
      var count = 0
      while let work = next {
        runPart(work, &tx, isFirst: count == 0, version, &group)
        count += 1
        let isLast = group.postponed != nil || work.waitsForReaders
        next = isLast || count == Self.groupLimit || HostClock.monotonicNanoseconds >= end ? nil : following()
      }
    }
  }

  private func runPart(
    _ work: BarrierWork, _ tx: inout Transaction, isFirst: Bool, _ version: UInt64, _ group: inout Group
  ) {
    do {
      let announcement = try tx.withSavepoint { (part: inout Transaction) throws in try work.run(&part) }
      if work.waitsForReaders {
        group.waiting = (work, version, announcement)
      } else {
        group.announcements.append(announcement)
      }
    } catch let error as TableError where error.code == .full && !isFirst && Self.postpones {
      group.postponed = work
    } catch {
      group.announcements.append { work.fail(error) }
    }
  }

  /// Takes out the barrier that comes right after the one that runs; nil if what comes next is something else.
  /// - Parameter patience: of those only that would wait for the table no longer than this, in nanoseconds.
  private func following(upTo number: UInt64 = .max, patience: UInt64 = .max) -> BarrierWork? {
    withOrder { order in
      guard let next = order.waiting.first as? BarrierWork, table.nanoseconds(next.timeout) <= patience else {
        return nil
      }
      return order.continueBarrier(upTo: number) as? BarrierWork
    }
  }

  /// The table cannot be had. Those that were waiting with the leader are told the same, as each would wait as long
  /// again; up to the first that is ready to wait longer, which has a turn of its own.
  private func fail(_ leader: BarrierWork, upTo newest: UInt64, _ error: TableError, _ group: inout Group) {
    group.announcements.append { leader.fail(error) }
    let patience = table.nanoseconds(leader.timeout)
    while let work = following(upTo: newest, patience: patience) { group.announcements.append { work.fail(error) } }
  }
}

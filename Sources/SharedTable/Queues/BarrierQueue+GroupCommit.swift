import SharedMemory

/// Group commit: asynchronous barriers that follow each other share one barrier of the table.
///
/// The table's barrier is what costs (the lock, the journal, the publishing), and a burst would pay for it once an
/// item. Each item keeps what a barrier of its own would give it: it sees what those before it did, it is undone by
/// itself if it throws (a savepoint), and it is told of its end when its changes are visible. What they share is the
/// moment at which they become visible, with it the version, and the fate of the table's barrier: if that cannot begin, or the process
/// dies in it, none of them happened. So the version is shown to none of them (``Transaction/sharedVersion``): what one has stored, the
/// next may change under the same version. A group is bounded in items and time, for other processes wait meanwhile.
///
/// As group commit in databases: DeWitt et al., "Implementation Techniques for Main Memory Database Systems" (1984).
extension BarrierQueue {
  /// The most barriers in one of the table.
  static var groupLimit: Int { 256 }
  /// So many are taken out of the queue at once, for the price of one lock.
  private static var batchLimit: Int { 16 }
  /// For how long a group takes up further ones.
  static var groupNanoseconds: UInt64 { 1_000_000 }

  /// How long a group takes up further barriers.
  ///
  /// To read the clock costs as much as a small barrier does in all. So while the group is young it is read with every fourth; once a
  /// sixteenth of the time has passed, as after one barrier that takes long, with each.
  private struct Time {
    private let start = HostClock.monotonicNanoseconds
    private var nextLook = 1

    /// - Parameter count: how many barriers the group has had.
    @inline(__always)
    mutating func mayGoOn(_ count: Int) -> Bool {
      if count < nextLook { return true }
      let passed = HostClock.monotonicNanoseconds &- start
      nextLook = count &+ (passed < BarrierQueue.groupNanoseconds / 16 ? 4 : 1)
      return passed < BarrierQueue.groupNanoseconds
    }
  }

  /// What became of the barriers of a turn.
  private struct Group {
    /// The barriers that have ended and whose submitters have not been told yet, in the order of their submission. They are in no
    /// other list, so this one takes no memory of its own; an array would be allocated for each group, and copied as it grows.
    var ended = SubmissionList()
    /// Those that were cancelled after they were taken out of the queue. They are let go last, for that ends their closures: what such
    /// an end does may use the table, and wait for the queue.
    var cancelled = SubmissionList()
    /// The next ones, taken out of the queue and not begun.
    var next = SubmissionList()
    /// A barrier that threw `full` and may find room without the others of this group, or that was not begun among them, since it must not run
    /// again. The queue has it lead a group of its next turn.
    var postponed: BarrierWork?
    /// The last of them waits for the readers of before this version, until this deadline: its own.
    var waiting: ReaderWaits.Wait?
    /// How many the table's barrier held; 0 if there was none, or all that it was to hold were cancelled.
    var committed = 0

    /// Neither of the two, so another may join.
    var mayGoOn: Bool { postponed == nil && waiting == nil }

    mutating func tellEnded() {
      ended.removeAll { $0.tell() }
      cancelled.removeAll { _ in }
    }
  }

  /// On a worker thread: runs the barrier whose turn it is, and those that follow it.
  func run(_ first: BarrierWork) {
    var group = Group()
    if runGroup(of: first, &group) { endTurn(of: &group) }
  }

  /// As ``run(_:)``, with the table's barrier open.
  func runInOpenBarrier(_ first: BarrierWork) {
    var group = Group()
    runOpenGroup(of: first, &group)
    endTurn(of: &group)
  }

  private func endTurn(of group: inout Group) {
    let waiting = group.waiting
    var isToWait = false
    endTurn({ order in
      // First, since it takes the room that the end of the turn may give.
      if let waiting { isToWait = order.readerWaits.add(waiting) }
      order.finishBarrier()
    }) {
      group.tellEnded()
    }
    if isToWait { awaitReaders() }
    // The last, since it runs the program's code: that may use the queue, and takes its time.
    if group.committed > 0 { GroupProbe.tell(.init(table: table.name, label: label, count: group.committed)) }
  }

  /// - Returns: false if the turn has ended with nothing done: the leader gets another, or was cancelled.
  private func runGroup(of leader: BarrierWork, _ group: inout Group) -> Bool {
    let newest = withOrder { $0.noteNewest(atFirstTurn: leader.turnDeadline == nil) }
    do throws(TableError) {
      guard try beginBarrierInTurn(leader) else { return false }
    } catch {
      fail(leader, upTo: newest, error, &group)
      return true
    }
    runOpenGroup(of: leader, &group)
    return true
  }

  private func runOpenGroup(of leader: BarrierWork, _ group: inout Group) {
    let version = table.segment.versionInBarrier
    var time = Time()
    var count = 1
    table.runBarrier(isShared: !isOfOneCall) { tx in
      if runPart(leader, &tx, isFirst: true, version, &group) { group.ended.append(leader) }
      while group.mayGoOn, count < Self.groupLimit, time.mayGoOn(count),
        let work = next(of: &group, most: Self.groupLimit - count)
      {
        if runPart(work, &tx, isFirst: false, version, &group) { group.ended.append(consume work) }
        count += 1
      }
    }
    // Those that were cancelled did not run.
    count -= group.cancelled.count
    // One that is postponed counts in the group in which it runs to its end.
    if group.postponed != nil { count -= 1 }
    group.committed = count
    putBackNext(of: &group)
  }

  /// Puts the barriers that this thread took out of the queue and did not run to their end back to its front. The one that was postponed is the
  /// first of them, and so leads the next turn's group. If it ran in this turn, and waited for the table, the submitters of those that
  /// have ended would be told only after that.
  private func putBackNext(of group: inout Group) {
    if let work = group.postponed.take() {
      var first = SubmissionList()
      first.append(work)
      group.next.prepend(first)
    }
    guard group.next.count > 0 else { return }
    var cancelled = withOrder { $0.putBack(&group.next) }
    while let work = cancelled.popFirst() { group.cancelled.append(work) }
  }

  /// - Returns: whether it has ended; else it is what the group knows apart, or was cancelled while the group waited for the table.
  @inline(__always)
  private func runPart(
    _ work: BarrierWork, _ tx: inout Transaction, isFirst: Bool, _ version: UInt64, _ group: inout Group
  ) -> Bool {
    if work.runsOnce && !isFirst {
      group.postponed = work
      return false
    }
    guard work.claim() else {
      group.cancelled.append(work)
      return false
    }
    // What it waited for the table counts, and what its closure takes does not.
    let left = work.waitsForReaders ? work.turnDeadline?.leftNanoseconds ?? work.timeoutNanoseconds : 0
    do {
      let value = try tx.withSavepoint { part in
        defer { endIfForked() }
        return try work.run(&part)
      }
      work.setResult(.success(consume value))
      if work.waitsForReaders {
        group.waiting = ReaderWaits.Wait(work: work, version: version, deadline: Deadline(left))
      }
      return !work.waitsForReaders
    } catch let error as TableError where error.code == .full && error.table == table.name && !isFirst {
      work.unclaim()
      group.postponed = work
      return false
    } catch {
      work.setResult(.failure(error))
      return true
    }
  }

  /// The barrier that comes right after the one that runs; nil if what comes next is something else, or the queue is suspended.
  private func next(of group: inout Group, most: Int) -> BarrierWork? {
    if isSuspended.load(ordering: .relaxed) { return nil }
    if group.next.count == 0 { group.next = withOrder { $0.continueBarrier(most: min(most, Self.batchLimit)) } }
    return group.next.popFirst()?.asBarrierWork
  }

  /// The table cannot be had. Those that were waiting with the leader are told the same, as each would wait as long
  /// again; up to the first that is ready to wait longer, which has a turn of its own.
  private func fail(_ leader: BarrierWork, upTo newest: UInt64, _ error: TableError, _ group: inout Group) {
    let patience = leader.timeoutNanoseconds
    refuse(leader, error, &group)
    var others = withOrder { order in
      order.continueBarrier(most: .max) { $0.number <= newest && $0.timeoutNanoseconds <= patience }
    }
    while let work = others.popFirst() { refuse(work.asBarrierWork, error, &group) }
  }

  private func refuse(_ work: BarrierWork, _ error: TableError, _ group: inout Group) {
    guard work.claim() else { return group.cancelled.append(work) }
    work.setResult(work.refuse(error))
    group.ended.append(work)
  }
}

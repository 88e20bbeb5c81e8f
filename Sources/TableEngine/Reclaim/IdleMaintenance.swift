import CShims
import SharedMemory

/// What a daemon does for a table in its idle moments.
public struct IdleMaintenance {
  let segment: Segment

  public init(_ segment: Segment) { self.segment = segment }

  /// Reclaims if no barrier runs; recovers after a dead writer.
  /// - Parameter passes: the most passes of reclaiming: bounds how long a writer may have to wait for it.
  /// - Returns: whether anything was reclaimed or recovered; nil if the table was busy.
  public func run(passes: Int = .max) throws(EngineError) -> Bool? {
    try whileNobodyWrites { participant, slot, outcome throws(EngineError) in
      let state = participant.state
      var changed = false
      if outcome == .ownerDied || Recoverer(state: state).isNeeded {
        let exclusion = TableExclusion(participant: participant)
        guard try exclusion.enterSoon(slot: slot) else { return nil }
        exclusion.leave()
        changed = true
      }
      if segment.variant == .rcu {
        changed = Collector(state: state).collectAll(passes: passes) || changed
        Compactor(state: state).mergeSubTables()
      }
      return changed
    }
  }

  /// Backs what the table has grown by with huge pages, at most 32 MiB of it. Holds nobody up.
  /// - Returns: the bytes that are backed so since.
  public func backGrowthByHugePages() throws(EngineError) -> Int {
    try segment.checkOfThisProcess()
    return HugePages(segment).catchUp(atMost: HugePages.bytesInAnIdleMoment)
  }

  /// What ``shrink()`` has come to.
  public struct Shrinking: Sendable, Equatable {
    /// Bytes of both objects that the system has back.
    public var bytesGivenBack = 0
    /// There was more to do: call again.
    public var isUnfinished = false
  }

  /// A step of giving back memory that the table does not need; in the rwlock variant readers wait for it.
  /// - Returns: nil if the table was busy.
  public func shrink() throws(EngineError) -> Shrinking? {
    let usedBytes = try segment.requireParticipant().state.allocator.usedBytes
    return try whileNobodyWrites { participant, slot, _ throws(EngineError) in
      let exclusion = TableExclusion(participant: participant)
      guard try exclusion.enterSoon(slot: slot) else { return nil }
      defer { exclusion.leave() }
      Collector.reclaim(participant.state, passes: 1)
      let observers = ObserverLock(
        data: segment.dataObject, name: segment.isPrivate ? nil : ObjectName.data(segment.name))
      return Shrinker(state: participant.state, observers: observers).run(usedBytes: usedBytes)
    }
  }

  /// Runs `body` with W, if that is to be had at once.
  /// - Throws: `damaged` if the table is marked so: its words are not to be believed, and only a repair may change
  ///   them.
  private func whileNobodyWrites<R>(
    _ body: (Segment.Participant, _ slot: Int, WriterLock.Outcome) throws(EngineError) -> R?
  ) throws(EngineError) -> R? {
    let participant = try segment.requireParticipant()
    let record = try unsafe segment.threadRecord()
    try unsafe record.checkOutsideSections()
    let slot = unsafe Int(record.pointee.slotIndex)
    guard let outcome = participant.tryWriterLock(slot: slot) else { return nil }
    defer { participant.lock.unlock() }
    participant.state.endTransaction()
    try DamageMark(ctl: participant.ctl).check()
    return try body(participant, slot, outcome)
  }
}

extension TableExclusion {
  /// Keeps readers out if that is soon to be had: a process that has nothing urgent to do must not hold W while a stopped reader holds it up.
  /// - Returns: false if it is not.
  fileprivate func enterSoon(slot: Int) throws(EngineError) -> Bool {
    do throws(EngineError) {
      try enter(slot: slot, HostClock.monotonicNanoseconds &+ 10_000_000)
    } catch {
      if case .timedOut = error { return false }
      throw error
    }
    return true
  }
}

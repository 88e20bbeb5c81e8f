import CShims
import SharedMemory

extension Segment {
  /// Keys as of the newest committed version.
  public var keyCount: Int {
    var count: UInt64 = 0
    // Bounded, and without a trap: an observer does not trust these words.
    for _ in 0..<1000 {
      let version = committed
      count = data.loadAcquire(WriterState.keyCountWord(version))
      // PAIR key-count. Other end: CommitPoint.publish. The word is reused 64 versions later.
      if committed &- version < UInt64(DataLayout.keyCountSlots - 1) { break }
    }
    return Int(clamping: count)
  }

  /// What the table has claimed of its capacity.
  public var claimedBytes: Int { Int(clamping: data.loadAcquire(DataLayout.publishedBytes)) }

  public var statistics: Statistics {
    var result = Statistics()
    result.probeID = uuid.0
    result.version = committed
    result.keyCount = keyCount
    result.capacityBytes = geometry.capacityBytes
    result.claimedBytes = claimedBytes
    result.observers = ObserverCount.now(of: dataObject)
    guard let participant else { return result }
    let ctl = participant.ctl
    result.hugeBytes = HugePages.bytes(ctl)
    result.memory = participant.state.allocator.usage
    result.limboBytes = LimboBudget(state: participant.state).reclaimableBytes
    result.limboBudgetBytes = Int(clamping: ctl.loadRelaxed(ControlLayout.limboBudget))
    result.recoveries = ctl.loadRelaxed(ControlLayout.recoveryCount)
    result.evictions = ctl.loadRelaxed(ControlLayout.evictionCount)
    result.barrierWaits = BarrierWaitCounts(ctl: ctl).now
    let sequence = data.loadAcquire(DataLayout.wseq)
    result.writer = participant.lock.holder
    // After the look for an owner: one that finds damage marks the table before it gives W back.
    result.isDamaged = DamageMark(ctl: ctl).isSet
    // The same odd number before and after a look that found no living owner is that of a dead one's transaction. In a table that is marked as
    // damaged nobody ends it.
    result.needsRecovery =
      !result.isDamaged && sequence & 1 == 1 && result.writer == nil && data.loadAcquire(DataLayout.wseq) == sequence
    result.readers = readers(participant)
    return result
  }

  private func readers(_ participant: Participant) -> [Statistics.Reader] {
    let slots = participant.slots
    let now = HostClock.monotonicNanoseconds
    let held = (0..<slots.highWater).filter { slots.isHeld($0) }
    let kept = keptBytes(participant, bySlots: held)
    let foremost = ForemostWaiterWord(word: participant.ctl.loadRelaxed(ControlLayout.foremostWaiter)).slot
    return held.map { index in
      let offset = slots.offset(index)
      let word = participant.ctl.loadAcquire(offset + SlotLayout.snapshot)
      // A reader on its way in or out has only one of the two, and keeps memory all the same.
      let version = SlotWord.oldest(word, participant.ctl.loadAcquire(offset + SlotLayout.pin))
      let purpose = purpose(participant.ctl.loadRelaxed(offset + SlotLayout.purpose))
      return Statistics.Reader(
        holder: slots.holder(index), version: version == SlotWord.idle ? nil : version,
        isLongSnapshot: purpose == .snapshot,
        isEvicted: SlotWord.isEvicted(word),
        // A writer may have found it in the way after `now`.
        inTheWayNanoseconds: slots.inTheWaySince(index).map { now > $0 ? now - $0 : 0 },
        holdsKeyLocks: participant.keyLocks.isHeld(by: index), keptBytes: kept[index] ?? 0,
        purpose: purpose, wait: wait(index, participant, foremost: foremost))
    }
  }

  private func purpose(_ word: UInt64) -> Statistics.Reader.Purpose {
    switch word {
    case SlotPurpose.snapshot: .snapshot
    case SlotPurpose.presence: .presence
    default: .thread
    }
  }

  private func wait(_ slot: Int, _ participant: Participant, foremost: Int?) -> Statistics.Reader.Wait? {
    if participant.keyLocks.isWaiting(slot) { return .keys }
    if slot == foremost { return .barrier }
    return participant.ctl.loadRelaxed(participant.slots.offset(slot) + SlotLayout.wait) != 0 ? .reading : nil
  }
}

extension Segment {
  /// In a section, so that the memory looked at is not given back to the system meanwhile.
  ///
  /// PAIR onlookers. Other end: Shrinker.awaitOnlookers. The announcement comes before the look at the rings and at the size.
  private func keptBytes(_ participant: Participant, bySlots held: [Int]) -> [Int: Int] {
    guard variant == .rcu, let section = try? beginRead(timeoutNanoseconds: 0) else { return [:] }
    defer { endRead(section) }
    return ReaderCosts(state: participant.state).bytes(bySlots: held)
  }
}

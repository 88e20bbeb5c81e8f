import CShims
import SharedMemory

/// A look at a table from outside, for people and metrics. Figures are read one by one while the table lives on:
/// each is true at its moment, all together at none.
public struct Statistics: Sendable {
  public struct Reader: Sendable {
    public let holder: Holder
    /// Version it reads at; nil while idle.
    public let version: UInt64?
    public let isLongSnapshot: Bool
    public let isEvicted: Bool
    /// For how long at least it has kept old versions, in nanoseconds; nil if gc has not found it to.
    public let stalledNanoseconds: UInt64?
    /// Runs a barrier of some keys.
    public let claimsKeys: Bool
    /// Bytes that it keeps from being reused. What several keep is counted with the one that reads the oldest version. 0 where
    /// the calling thread cannot read: in a barrier, and where no slot is left for it.
    public let keptBytes: Int
    public let purpose: Purpose
    /// What it waits for, as far as shared memory tells: of those who wait for the barrier before them only the foremost.
    public let wait: Wait?

    /// What a slot is for.
    public enum Purpose: Sendable { case thread, snapshot, presence }
    /// What a thread may wait for.
    public enum Wait: Sendable { case barrier, keys, reading }
  }

  /// How long barriers waited for the one before them. Those that waited in vain are not counted.
  public struct BarrierWaits: Sendable, Equatable {
    /// Found nobody in their way.
    public var none: UInt64 = 0
    /// Waited at least 2^i nanoseconds and less than 2^(i+1), at index i; at the last one also longer.
    public var byLogarithm: [UInt64] = []
    /// The most turns of others that one of them waited for.
    public var mostTurns: UInt64 = 0
  }

  /// The number that names the table in the USDT probes' first argument.
  public var probeID: UInt64 = 0
  public var version: UInt64 = 0
  public var keyCount = 0
  public var capacityBytes = 0
  /// Bytes claimed from /dev/shm for the data object so far.
  public var claimedBytes = 0
  /// Of `claimedBytes`, those that were backed by huge pages when the table last grew. Participants only.
  public var hugeBytes: Int?
  /// Bytes of blocks and frames in use, of `claimedBytes`. Participants only.
  public var usedBytes: Int? { memory?.used }
  /// What the memory is used for. Participants only.
  public var memory: MemoryUse?
  /// Bytes that readers or the lack of gc keep from being reused. Participants only.
  public var limboBytes: Int?
  public var limboBudgetBytes: Int?
  public var recoveries: UInt64?
  /// Snapshots that were ended for what they kept. Participants only.
  public var evictions: UInt64?
  /// A writer died in a barrier: the next one undoes or finishes its work first.
  public var needsRecovery = false
  /// Since the table was made. Participants only.
  public var barrierWaits: BarrierWaits?
  public var isDamaged = false
  /// Who runs a barrier just now.
  public var writer: Holder?
  /// Threads that hold a slot.
  public var readers: [Reader] = []
  /// Processes that observe, each handle counted; nil where the system does not tell.
  public var observers: Int?

  public init() {}
}

extension Segment {
  /// Keys as of the newest committed version.
  public var keyCount: Int {
    var count: UInt64 = 0
    // Bounded, and without a trap: an observer does not trust these words.
    for _ in 0..<1000 {
      let version = committed
      count = data.loadAcquire(TableState.keyCountWord(version))
      // PAIR key-count. Other end: TableState.publishVersion. The word is reused 64 versions later.
      if committed &- version < UInt64(DataLayout.keyCountSlots - 1) { break }
    }
    return Int(clamping: count)
  }

  public var statistics: Statistics {
    var result = Statistics()
    result.probeID = uuid.0
    result.version = committed
    result.keyCount = keyCount
    result.capacityBytes = geometry.capacityBytes
    result.claimedBytes = Int(clamping: data.loadAcquire(DataLayout.publishedBytes))
    result.observers = ObserverCount.now(of: dataObject)
    guard let participant else { return result }
    let ctl = participant.ctl
    result.hugeBytes = HugePages.bytes(ctl)
    result.memory = participant.state.allocator.usage
    result.limboBytes = LimboBudget(state: participant.state).reclaimableBytes
    result.limboBudgetBytes = Int(clamping: ctl.loadRelaxed(ControlLayout.limboBudget))
    result.recoveries = ctl.loadRelaxed(ControlLayout.recoveryCount)
    result.evictions = ctl.loadRelaxed(ControlLayout.evictionCount)
    result.barrierWaits = Statistics.BarrierWaits(
      none: ctl.loadRelaxed(ControlLayout.barriersUnwaited),
      byLogarithm: (0..<ControlLayout.barrierWaitBuckets).map { index in
        ctl.loadRelaxed(ControlLayout.barrierWaits + index * 8)
      },
      mostTurns: ctl.loadRelaxed(ControlLayout.mostTurnsWaited))
    result.isDamaged = ctl.loadRelaxed(ControlLayout.damaged) != 0
    let sequence = data.loadAcquire(DataLayout.wseq)
    result.writer = participant.lock.holder
    // The same odd number before and after a look that found no living owner is that of a dead one's transaction.
    result.needsRecovery =
      sequence & 1 == 1 && result.writer == nil && data.loadAcquire(DataLayout.wseq) == sequence
    result.readers = readers(participant)
    return result
  }

  private func readers(_ participant: Participant) -> [Statistics.Reader] {
    let slots = participant.slots
    let now = HostClock.monotonicNanoseconds
    let held = (0..<slots.highWater).filter { slots.isHeld($0) }
    let kept = keptBytes(participant, bySlots: held)
    let foremost = ForemostWaiter(word: participant.ctl.loadRelaxed(ControlLayout.foremostWaiter)).slot
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
        stalledNanoseconds: slots.inTheWaySince(index).map { now &- $0 },
        claimsKeys: participant.keyLocks.isHeld(by: index), keptBytes: kept[index] ?? 0,
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

extension Slots {
  /// Whether a living thread holds the slot. A free or dead one is found by taking its mutex for a moment.
  func isHeld(_ index: Int) -> Bool { !clearIfDead(index) }
}

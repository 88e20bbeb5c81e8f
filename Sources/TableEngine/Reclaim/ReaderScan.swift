import CShims
import SharedMemory

/// What the readers announced, as seen in one pass over the slots after HEAVY.
struct ReaderScan {
  /// `committed` as it was before HEAVY (I2).
  let committed: UInt64
  private(set) var needed = NeededVersions()
  /// Lowest stamp that a pin or pending reader protects from reuse.
  private(set) var lowestPin = UInt64.max
  /// Slot of the oldest announcement, for errors and `stat`.
  private(set) var oldestSlot: Int?
  private var oldestVersion = UInt64.max

  /// Looks at the readers.
  /// - Returns: nil if this process is denied membarrier, and a living reader relies on it: then it must leave
  ///   reclaiming to other processes.
  static func take(_ state: WriterState) -> ReaderScan? {
    let ctl = state.ctl
    let committed = state.data.loadAcquire(DataLayout.committed)
    // PAIR light-flag. Other end: Segment.announceFencing. The fence puts our `committed` before our look at the flag:
    // a process that sets it after that look reads at C or later.
    shm_fence_seqcst()
    // PAIR heavy-light. Other end: Segment.announce. I2: C before HEAVY, slots after.
    // PAIR light-slot. Other end: Slots.take. Where HEAVY is denied, the same fence, with the slots' own flags: without a
    // living light reader every announcement was an exchange, and a reader that comes later reads at C or later.
    let slots = state.slots
    if ctl.loadAcquire(ControlLayout.lightReaders) != 0, !Membarrier.heavy(), slots.lightReader() != nil {
      return nil
    }
    var scan = ReaderScan(committed: committed)
    for index in 0..<slots.highWater {
      state.work.slotsScanned += 1
      let slot = slots.offset(index)
      // PAIR slot-scan. Other end: Segment.unpin. Acquire: all that a reader loaded comes before we find it gone.
      let snapshot = ctl.loadAcquire(slot + SlotLayout.snapshot)
      let pin = ctl.loadAcquire(slot + SlotLayout.pin)
      if snapshot == SlotWord.idle, pin == SlotWord.idle { continue }
      let behind = (snapshot & SlotWord.versionMask) < committed || pin < committed
      if behind, slots.clearIfDead(index) { continue }
      if behind { slots.noteInTheWay(index, SlotWord.oldest(snapshot, pin)) }
      scan.add(slot: index, snapshot: snapshot, pin: pin)
    }
    return scan
  }

  private init(committed: UInt64) { self.committed = committed }

  /// Takes in one slot's words; `snapshot` was loaded before `pin`.
  private mutating func add(slot: Int, snapshot: UInt64, pin: UInt64) {
    if snapshot != SlotWord.idle {
      let version = snapshot & SlotWord.versionMask
      if SlotWord.isPending(snapshot) {
        needed.addPending(version)
        lowestPin = min(lowestPin, version)
        noteOldest(slot, version)
      } else if SlotWord.isExact(snapshot) || Self.protects(pin) {
        needed.addExact(version)
        noteOldest(slot, version)
      }
    }
    if pin != SlotWord.idle {
      lowestPin = min(lowestPin, pin)
      noteOldest(slot, pin)
    }
  }

  /// Whether a pin makes an evicted snapshot's versions needed all the same.
  private static func protects(_ pin: UInt64) -> Bool {
    return pin != SlotWord.idle
  }

  private mutating func noteOldest(_ slot: Int, _ version: UInt64) {
    if version < oldestVersion {
      oldestVersion = version
      oldestSlot = slot
    }
  }

  /// Does some reader read at a version before this one, or may it yet?
  func isBehind(_ version: UInt64) -> Bool {
    lowestPin < version || needed.lowestPending < version || needed.exact.contains { $0 < version }
  }
}

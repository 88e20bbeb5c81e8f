import CShims
import SharedMemory

/// What the readers announced, as seen in one pass over the slots after HEAVY.
struct ReaderScan {
  /// `committed` as it was before HEAVY (I2).
  let committed: UInt64
  private(set) var needed = NeededVersions()
  /// The lowest version that a pin or a pending reader announces. It protects every block with a later stamp from reuse.
  private(set) var lowestPin = UInt64.max
  /// The slot of the reader that announces it.
  private var pinSlot: Int?
  /// Slot of the oldest announcement, for errors and `stat`.
  private(set) var oldestSlot: Int?
  private var oldestVersion = UInt64.max

  /// Looks at the readers. Clears the slots of dead ones, and notes in a reader's slot since when it has been in the way.
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
      let announcement = SlotWord.announcement(snapshot, pin)
      // One of the newest version is not noted: the next announcement in this slot may be equal to it, and would inherit its time.
      if announcement < committed { slots.noteInTheWay(index, announcement) }
      scan.add(slot: index, snapshot: snapshot, pin: pin)
    }
    return scan
  }

  private init(committed: UInt64) { self.committed = committed }

  /// Takes in one slot's words; `snapshot` was loaded before `pin`. A pin makes an evicted snapshot's versions needed all the same.
  private mutating func add(slot: Int, snapshot: UInt64, pin: UInt64) {
    if snapshot != SlotWord.idle {
      let version = snapshot & SlotWord.versionMask
      if SlotWord.isPending(snapshot) {
        needed.addPending(version)
        notePin(slot, version)
        noteOldest(slot, version, pin)
      } else if SlotWord.isExact(snapshot) || pin != SlotWord.idle {
        needed.addExact(version)
        noteOldest(slot, version, pin)
      }
    }
    if pin != SlotWord.idle {
      notePin(slot, pin)
      noteOldest(slot, pin, pin)
    }
  }

  private mutating func notePin(_ slot: Int, _ version: UInt64) {
    if version < lowestPin {
      lowestPin = version
      pinSlot = slot
    }
  }

  /// If several slots are at the oldest version, one without a pin is named: it is the keeper's, of a long snapshot. The others may be uses of that
  /// snapshot that began just now.
  private mutating func noteOldest(_ slot: Int, _ version: UInt64, _ pin: UInt64) {
    if version < oldestVersion || version == oldestVersion && pin == SlotWord.idle {
      oldestVersion = version
      oldestSlot = slot
    }
  }

  /// Does an open section or `get` keep the record at the head of a ring? Then ending long snapshots frees nothing: what they keep goes to limbo,
  /// behind that record. Of *retained* the last record is asked, which is mostly the youngest.
  func isHeldUpBySection(_ state: WriterState) -> Bool {
    guard lowestPin != .max else { return false }
    let (superseded, limbo, retained) = (state.superseded, state.limbo, state.retained)
    if superseded.count > 0 { return state.versionNamed(by: superseded.head) > lowestPin }
    if limbo.count > 0 { return limbo.stamp(limbo.head) > lowestPin }
    return retained.count > 0 && retained.stamp(retained.tail &- 1) > lowestPin
  }

  /// The slot of the section or `get` that began first, if that holds up reclaiming.
  func slotOfSectionInTheWay(_ state: WriterState) -> Int? { isHeldUpBySection(state) ? pinSlot : nil }

  /// The slot of the reader that is in the way of reusing memory; nil if none is, any more.
  func slotInTheWay(_ state: WriterState) -> Int? {
    guard isBehind(committed) else { return nil }
    return slotOfSectionInTheWay(state) ?? oldestSlot
  }

  /// Does some reader read at a version before this one, or may it yet?
  func isBehind(_ version: UInt64) -> Bool {
    lowestPin < version || needed.lowestPending < version || needed.exact.contains { $0 < version }
  }
}

import CShims
import SharedMemory

/// The reader slots in *ctl*: who reads, at which snapshot, and whether it still lives.
///
/// A slot belongs to a thread for as long as that thread holds the slot's robust mutex. It holds the mutex until the
/// process lets go of the table (`SlotRelease`), or until the thread ends: the kernel then marks the mutex, however the
/// thread ended. So nobody has to poll or to guess by a timeout whether a thread lives, and a reused pid cannot be
/// taken for it.
struct Slots {
  let ctl: MappedMemory
  let count: Int

  @inline(__always)
  func offset(_ index: Int) -> Int { Self.offset(index) }

  @inline(__always)
  static func offset(_ index: Int) -> Int { ControlLayout.slots + index * ControlLayout.slotBytes }

  func mutex(_ index: Int) -> RobustMutex {
    unsafe RobustMutex(at: ctl.pointer(offset(index) + SlotLayout.mutex))
  }

  /// Slots that were ever claimed lie below this.
  var highWater: Int { Int(min(UInt64(count), ctl.loadAcquire(ControlLayout.slotsHighWater))) }

  /// Claims a slot for the calling thread. Never blocks.
  /// - Throws: `slotsExhausted` when as many threads as there are slots hold one.
  func claim(purpose: UInt64 = 0) throws(EngineError) -> Int {
    for index in 0..<count {
      // Before the slot is ours: what is held lies below the mark at any time, as `check` says.
      raiseHighWater(index + 1)
      switch mutex(index).tryLock() {
      case .acquired:
        take(index, purpose)
        return index
      case .acquiredOwnerDied:
        reap(index)
        try? mutex(index).markConsistent()
        take(index, purpose)
        return index
      default:
        continue
      }
    }
    throw .slotsExhausted(count)
  }

  private func take(_ index: Int, _ purpose: UInt64) {
    let slot = offset(index)
    reset(index)
    ctl.storeRelaxed(slot + SlotLayout.pid, UInt64(UInt32(bitPattern: ProcessIdentity.pid)))
    ctl.storeRelaxed(slot + SlotLayout.tid, UInt64(UInt32(bitPattern: ProcessIdentity.tid)))
    ctl.storeRelaxed(slot + SlotLayout.purpose, purpose)
    ctl.storeRelaxed(slot + SlotLayout.inTheWayVersion, SlotWord.idle)
    ctl.storeRelaxed(slot + SlotLayout.since, HostClock.monotonicNanoseconds)
    let command = ProcessIdentity.commandName.words
    ctl.storeRelaxed(slot + SlotLayout.command, command.0)
    ctl.storeRelaxed(slot + SlotLayout.command + 8, command.1)
    // PAIR light-slot. Other end: ReaderScan.take. Sequentially consistent: either a process that may not issue membarrier
    // finds this flag and leaves reclaiming to others, or this thread begins to read after that process loaded C for its
    // scan, and so reads at C or later.
    _ = ctl.exchange(slot + SlotLayout.light, Membarrier.mode == .light ? 1 : 0)
  }

  /// PAIR slots-high-water. Other end: ReaderScan.take. The mark must cover the slot before the slot announces anything;
  /// the compare-and-swap is sequentially consistent, and so is the scan's side by way of HEAVY.
  func raiseHighWater(_ needed: Int) {
    while true {
      let current = ctl.loadAcquire(ControlLayout.slotsHighWater)
      if current >= UInt64(needed) { return }
      if ctl.compareAndSwap(ControlLayout.slotsHighWater, expected: current, desired: UInt64(needed)) { return }
    }
  }

  /// Withdraws whatever the slot announces.
  func reset(_ index: Int) {
    let slot = offset(index)
    ctl.storeRelease(slot + SlotLayout.snapshot, SlotWord.idle)
    ctl.storeRelease(slot + SlotLayout.pin, SlotWord.idle)
    ctl.storeRelease(slot + SlotLayout.rw, RWWord.idle)
    ctl.storeRelease(slot + SlotLayout.wait, 0)
    ctl.storeRelease(slot + SlotLayout.keyLock, 0)
    ctl.storeRelaxed(slot + SlotLayout.light, 0)
  }

  /// Gives a claimed slot back. By the thread that claimed it.
  func release(_ index: Int) {
    reset(index)
    try? mutex(index).unlock()
  }

  /// Who claimed the slot, and how long ago, for people.
  func holder(_ index: Int) -> Holder {
    named(index, since: ctl.loadRelaxed(offset(index) + SlotLayout.since))
  }

  /// Who keeps memory by way of the slot, and for how long at least, for people.
  func readerInTheWay(_ index: Int) -> Holder { named(index, since: inTheWaySince(index)) }

  private func named(_ index: Int, since: UInt64?) -> Holder {
    let slot = offset(index)
    let words = (ctl.loadRelaxed(slot + SlotLayout.command), ctl.loadRelaxed(slot + SlotLayout.command + 8))
    return Holder(
      pid: Int32(truncatingIfNeeded: ctl.loadRelaxed(slot + SlotLayout.pid)),
      tid: Int32(truncatingIfNeeded: ctl.loadRelaxed(slot + SlotLayout.tid)),
      command: CommandName(words: words).description,
      heldNanoseconds: since.map { HostClock.monotonicNanoseconds &- $0 })
  }

  /// Notes that a reclaiming process has found the slot to keep old versions. Under W.
  ///
  /// Readers note no time: a look at a clock would slow down each announcement. The caller notes only announcements older than `committed`. A
  /// reader that begins later announces a later version. So if the next scan finds the same announcement (``SlotWord/announcement(_:_:)``), it is the
  /// same reader, still there.
  func noteInTheWay(_ index: Int, _ announcement: UInt64) {
    let slot = offset(index)
    if ctl.loadRelaxed(slot + SlotLayout.inTheWayVersion) == announcement { return }
    ctl.storeRelaxed(slot + SlotLayout.inTheWaySince, HostClock.monotonicNanoseconds)
    ctl.storeRelaxed(slot + SlotLayout.inTheWayVersion, announcement)
  }

  /// Since when reclaiming processes have found the slot to keep what it keeps now, if they have.
  func inTheWaySince(_ index: Int) -> UInt64? {
    let slot = offset(index)
    let announcement = SlotWord.announcement(
      ctl.loadAcquire(slot + SlotLayout.snapshot), ctl.loadAcquire(slot + SlotLayout.pin))
    guard announcement != SlotWord.idle, ctl.loadRelaxed(slot + SlotLayout.inTheWayVersion) == announcement
    else { return nil }
    return ctl.loadRelaxed(slot + SlotLayout.inTheWaySince)
  }
}

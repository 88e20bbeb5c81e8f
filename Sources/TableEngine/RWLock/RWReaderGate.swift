import CShims
import SharedMemory

/// Lets readers in and out: their side of the rwlock variant's lock, see ``RWExclusion``. Words in shared memory and no object,
/// so that a read counts no references.
struct RWReaderGate {
  let ctl: MappedMemory
  let data: MappedMemory

  var generation: UInt64 { ctl.loadAcquire(RWLayout.generation) }
  var isWriting: Bool { data.loadAcquire(DataLayout.wseq) & 1 != 0 }
  var barriersEnded: UInt64 { data.loadAcquire(DataLayout.wseq) >> 1 }
  var event: FutexEvent { unsafe FutexEvent(at: ctl.pointer(RWLayout.event)) }

  func instance(_ generation: UInt64) -> SharedRWLock {
    let index = Int(generation % UInt64(ControlLayout.rwlockInstances))
    return unsafe SharedRWLock(at: ctl.pointer(ControlLayout.rwlocks + index * ControlLayout.rwlockBytes))
  }

  /// How often to try before the general path takes over, which sleeps and asks the clock: a barrier of one write is
  /// over much sooner.
  private static let spins = 200

  /// Enters as soon as it may, if that is soon. Ends with ``leave(slot:)``.
  @inline(__always)
  func enterSoon(_ slot: Int) -> Bool { tryEnter(slot) || enterAfterBarrier(slot) }

  /// The reader stores its stamp at once, before the running barrier ends: then the next barrier lets it go first. A
  /// reader that stores it after that barrier has ended may have to wait for the next one too.
  private func enterAfterBarrier(_ slot: Int) -> Bool {
    beginWait(slot)
    defer { endWait(slot) }
    for _ in 0..<Self.spins {
      shm_pause()
      if tryEnter(slot) { return true }
    }
    return false
  }

  /// Says that the slot's thread waits for a barrier to end; until ``endWait(_:)``.
  func beginWait(_ slot: Int) {
    ctl.storeRelease(Slots.offset(slot) + SlotLayout.wait, barriersEnded + 1)
    ctl.storeRelease(RWLayout.hint, 1)
  }

  func endWait(_ slot: Int) { ctl.storeRelease(Slots.offset(slot) + SlotLayout.wait, 0) }

  /// Enters if no barrier runs or waits to; tried once. Ends with ``leave(slot:)``.
  @inline(__always)
  func tryEnter(_ slot: Int) -> Bool {
    let word = Slots.offset(slot) + SlotLayout.rw
    let generation = generation
    guard mayPass(slot) else { return false }
    // PAIR rw-intent. Other end: RWExclusion.fresh, RWExclusion.drain. Sequentially consistent: either the writer that moves the
    // generation on sees our intent, or we see the new generation below.
    _ = ctl.exchange(word, RWWord.intent(generation))
    // PAIR rw-generation. Other end: RWExclusion.fresh. Before the lock: an older generation's instance may be being remade.
    guard ctl.loadSequential(RWLayout.generation) == generation else { return withdraw(word) }
    guard instance(generation).tryRead() == .acquired else { return withdraw(word) }
    // After it: the instance may have been abandoned between the check and the lock, or its writer may have died.
    guard self.generation == generation, !isWriting else {
      instance(generation).unlock()
      return withdraw(word)
    }
    ctl.storeRelease(word, RWWord.held(generation))
    return true
  }

  private func withdraw(_ word: Int) -> Bool {
    ctl.storeRelease(word, RWWord.idle)
    return false
  }

  /// New readers let a waiting writer go first, but for those that waited through the barrier before.
  private func mayPass(_ slot: Int) -> Bool {
    if ctl.loadAcquire(RWLayout.writerWaiting) == 0 { return true }
    return waitedThroughBarrier(slot)
  }

  /// Did the slot's thread wait while a barrier ended?
  func waitedThroughBarrier(_ slot: Int) -> Bool {
    let stamp = ctl.loadAcquire(Slots.offset(slot) + SlotLayout.wait)
    return stamp != 0 && WaitStamp.barriersEnded(stamp) < barriersEnded
  }

  @inline(__always)
  func leave(slot: Int) {
    let word = Slots.offset(slot) + SlotLayout.rw
    let generation = RWWord.generation(ctl.loadRelaxed(word))
    instance(generation).unlock()
    ctl.storeRelease(word, RWWord.idle)
    if ctl.loadRelaxed(RWLayout.writerWaiting) != 0 || self.generation != generation { wakeSleepers() }
  }

  /// Wakes everybody who sleeps; nobody is missed for longer than a slice.
  func wakeSleepers() {
    guard ctl.loadRelaxed(RWLayout.sleepers) != 0 else { return }
    ctl.storeRelease(RWLayout.sleepers, 0)
    event.advance()
  }
}

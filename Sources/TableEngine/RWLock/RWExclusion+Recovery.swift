import CShims
import SharedMemory

/// After a death: nobody unlocks a dead holder's rwlock. The owner of W leaves it as it is, and goes on with a fresh
/// one.
extension RWExclusion {
  /// PAIR rw-recover. Other end: RWReaderGate.tryEnter. With W, when something is stale. Ends with everyone admitted again.
  ///
  /// - Throws: `timedOut` if a living reader of an older generation does not leave: then the fresh instance stays
  ///   write-locked and `wseq` odd, so nobody enters before the next owner of W has repaired.
  func repair(deadline: UInt64) throws(EngineError) {
    try fresh(deadline: deadline)
    if isWriting {
      try drain(deadline: deadline)
      recover(.transaction)
      // Beyond repair: the instance stays locked, nobody may read what is half-written.
      try damageMark.check()
    }
    instance(generation).unlock()
    wakeSleepers()
  }

  /// Keeps readers out whatever state the lock is in, for a repair of the whole table: a fresh instance, and nobody
  /// inside an older one. Ends with ``leaveExclusive()``.
  /// - Throws: `timedOut` naming a reader.
  func takeOver(slot: Int, timeoutNanoseconds: UInt64) throws(EngineError) {
    let deadline = HostClock.monotonicNanoseconds &+ timeoutNanoseconds
    ctl.storeRelease(RWLayout.writerWaiting, UInt64(slot) + 1)
    do throws(EngineError) {
      try fresh(deadline: deadline)
      do throws(EngineError) {
        try drain(deadline: deadline)
      } catch {
        // With `wseq` odd it stays locked: see repair().
        if !isWriting { instance(generation).unlock() }
        throw error
      }
    } catch {
      ctl.storeRelease(RWLayout.writerWaiting, 0)
      wakeSleepers()
      throw error
    }
  }

  /// PAIR rw-fresh. Other end: RWReaderGate.tryEnter. Takes an instance that no living slot names, makes it new, locks it and
  /// only then moves the generation on.
  func fresh(deadline: UInt64) throws(EngineError) {
    let current = generation
    var candidate = current + 1
    var round = Waiting(deadline: deadline)
    while isNamedByTheLiving(candidate) {
      candidate += 1
      guard candidate == current + UInt64(ControlLayout.rwlockInstances) else { continue }
      candidate = current + 1
      guard pause(&round) else { throw .timedOut(nil) }
    }
    do throws(SystemError) {
      try instance(candidate).initialize()
    } catch {
      throw .system(error)
    }
    guard instance(candidate).tryWrite() == .acquired else { throw .damaged("a fresh rwlock is not free") }
    // Sequentially consistent: see rw-intent.
    _ = ctl.exchange(RWLayout.generation, candidate)
  }

  /// Does a living slot name this generation's instance, at any generation? Dead ones are cleared on the way.
  private func isNamedByTheLiving(_ generation: UInt64) -> Bool {
    let instances = UInt64(ControlLayout.rwlockInstances)
    for slot in 0..<slots.highWater {
      let word = ctl.loadAcquire(slots.offset(slot) + SlotLayout.rw)
      guard word != RWWord.idle, RWWord.generation(word) % instances == generation % instances else { continue }
      if !slots.clearIfDead(slot) { return true }
    }
    return false
  }

  /// PAIR rw-drain. Other end: RWReaderGate.tryEnter. Waits until no living slot is inside another generation than the
  /// current one, whose instance we hold.
  func drain(deadline: UInt64) throws(EngineError) {
    let generation = generation
    for slot in 0..<slots.highWater {
      let offset = slots.offset(slot) + SlotLayout.rw
      try wait(deadline: deadline, slot: slot) {
        // Sequentially consistent: see rw-intent.
        let word = ctl.loadSequential(offset)
        return word == RWWord.idle || RWWord.generation(word) == generation
      }
    }
    ctl.storeRelease(RWLayout.drained, generation)
  }

  /// PAIR rw-reap. Other end: Slots.reap. `abandoned` only grows.
  func raiseAbandoned(to generation: UInt64) { Self.raiseAbandoned(ctl, to: generation) }

  static func raiseAbandoned(_ ctl: MappedMemory, to generation: UInt64) {
    while true {
      let current = ctl.loadAcquire(RWLayout.abandoned)
      if current >= generation { return }
      if ctl.compareAndSwap(RWLayout.abandoned, expected: current, desired: generation) { return }
    }
  }
}

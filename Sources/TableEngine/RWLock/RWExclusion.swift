import CShims
import SharedMemory

/// The rwlock variant's lock: readers and the barrier exclude each other, and no death stops anyone (G6).
///
/// `pthread_rwlock_t` is not robust, so it is used only through its `try` forms and never unlocked for the dead:
/// - Eight instances; a *generation* says which one counts. A dead holder's instance is abandoned: the owner of W takes
///   a fresh one, already write-locked, and moves the generation on.
/// - A slot names the generation its thread is about to lock (`intent`) or holds (`held`). An instance is made fresh
///   only if no living slot names it, at any generation, and a writer waits until no living slot is inside an older one.
/// - Readers that were waiting when a barrier ended go before the next one (`RWExclusion+WaitingReaders.swift`), new readers
///   after a waiting writer (`writerWaiting`): nobody starves.
/// - A process that finds a death first stores that in `abandoned`. So if it dies itself before it has put things right
///   (`RWExclusion+Recovery.swift`), the next owner of W still finds what is left to do.
///
/// The protocol is `Models/rwlock.pml`, label by label: rw-intent, rw-generation, rw-fresh, rw-drain, rw-recover,
/// rw-polite, rw-exclusive, rw-reap.
struct RWExclusion {
  let gate: RWReaderGate
  let slots: Slots
  /// The counters of this process's writer.
  let work: WorkCounters
  /// Looks after what a dead owner of W left. Set by the segment: this floor knows neither transactions nor units.
  let recover: @Sendable (Remains) -> Void

  /// What a dead owner of W may leave besides the rwlock.
  enum Remains {
    /// A transaction, to be undone or finished.
    case transaction
    /// Units that it counted and did not publish.
    case units
  }

  var ctl: MappedMemory { gate.ctl }

  /// How often to try before sleeping: a barrier is usually over sooner than a thread switch.
  private static let spins = 2000
  /// How long to sleep at most before looking for the dead.
  static let sliceNanoseconds: UInt64 = 20_000_000

  // MARK: - State in ctl

  var generation: UInt64 { gate.generation }
  var abandoned: UInt64 { ctl.loadAcquire(RWLayout.abandoned) }
  var isWriting: Bool { gate.isWriting }

  /// A dead barrier, or a dead holder of the current instance, has left something to put right.
  var isStale: Bool { isWriting || abandoned > generation }

  var damageMark: DamageMark { DamageMark(ctl: ctl) }

  func instance(_ generation: UInt64) -> SharedRWLock { gate.instance(generation) }

  func wakeSleepers() { gate.wakeSleepers() }

  func initialize() throws(SystemError) {
    for generation in 0..<UInt64(ControlLayout.rwlockInstances) { try instance(generation).initialize() }
  }

  // MARK: - Readers

  /// Waits until no barrier runs, and keeps barriers out until ``RWReaderGate/leave(slot:)``.
  /// - Throws: `timedOut` naming the writer.
  func enterShared(slot: Int, timeoutNanoseconds: UInt64) throws(EngineError) {
    if gate.enterSoon(slot) { return }
    let deadline = HostClock.monotonicNanoseconds &+ timeoutNanoseconds
    gate.beginWait(slot)
    defer { gate.endWait(slot) }
    var round = Waiting(deadline: deadline)
    while !gate.tryEnter(slot) {
      guard pause(&round) else {
        throw .timedOut(WriterLock(ctl: ctl, data: gate.data, slots: slots).holder)
      }
      if round.isDueToLook {
        if damageMark.isSetAsReadersSee { throw DamageMark.refusal }
        try repairIfWriterDied(slot, deadline: deadline)
      }
    }
  }

  /// A reader that waits long looks whether the writer it waits for has died, and puts things right itself.
  private func repairIfWriterDied(_ slot: Int, deadline: UInt64) throws(EngineError) {
    let lock = WriterLock(ctl: ctl, data: gate.data, slots: slots)
    guard let outcome = lock.tryLock(slot: slot) else { return }
    defer { lock.unlock() }
    if outcome == .ownerDied {
      // As WriterLockRecovery.inherit: the next owner of W finds a lock that nobody died with, and does not look.
      recover(.units)
      inherit()
      lock.markConsistent()
    }
    if isStale { try repair(deadline: deadline) }
  }

  // MARK: - The writer, with W

  /// Records that W's last owner died: its instance may be write-locked for ever, its flag raised for ever.
  func inherit() {
    raiseAbandoned(to: generation + 1)
    ctl.storeRelease(RWLayout.writerWaiting, 0)
    ctl.storeRelease(RWLayout.hint, 1)
  }

  /// Keeps readers out until ``leaveExclusive()``.
  /// - Throws: `timedOut` naming a reader.
  func enterExclusive(slot: Int, deadline: UInt64) throws(EngineError) {
    if isStale { try repair(deadline: deadline) }
    ctl.storeRelease(RWLayout.writerWaiting, UInt64(slot) + 1)
    do throws(EngineError) {
      letWaitersGoFirst(deadline: deadline)
      try lockInstance(deadline: deadline)
      if ctl.loadAcquire(RWLayout.drained) != generation {
        do throws(EngineError) {
          try drain(deadline: deadline)
        } catch {
          instance(generation).unlock()
          throw error
        }
      }
    } catch {
      ctl.storeRelease(RWLayout.writerWaiting, 0)
      wakeSleepers()
      throw error
    }
  }

  /// Before W is given back, not after: the next owner must find the instance unlocked.
  func leaveExclusive() {
    instance(generation).unlock()
    ctl.storeRelease(RWLayout.writerWaiting, 0)
    wakeSleepers()
  }

  /// PAIR rw-exclusive. Other end: RWReaderGate.tryEnter. Write-locks the current instance, or a fresh one if the dead hold it.
  private func lockInstance(deadline: UInt64) throws(EngineError) {
    var round = Waiting(deadline: deadline)
    while true {
      let generation = generation
      if abandoned > generation { return try fresh(deadline: deadline) }
      if instance(generation).tryWrite() == .acquired { return }
      guard pause(&round) else { throw .timedOut(insideReader(generation)) }
      if round.isDueToLook {
        for slot in 0..<slots.highWater where names(slot, generation) { _ = slots.clearIfDead(slot) }
      }
    }
  }

  private func insideReader(_ generation: UInt64) -> Holder? {
    (0..<slots.highWater).first { names($0, generation) }.map { slots.holder($0) }
  }

  private func names(_ slot: Int, _ generation: UInt64) -> Bool {
    let word = ctl.loadAcquire(slots.offset(slot) + SlotLayout.rw)
    return word != RWWord.idle && RWWord.generation(word) == generation
  }

  // MARK: - Waiting

  /// Waits for a condition on a slot; a slot whose thread is dead is cleared, which makes any such condition true.
  func wait(deadline: UInt64, slot: Int, _ isDone: () -> Bool) throws(EngineError) {
    var round = Waiting(deadline: deadline)
    while !isDone() {
      guard pause(&round) else { throw .timedOut(slots.holder(slot)) }
      if round.isDueToLook, slots.clearIfDead(slot) { return }
    }
  }

  struct Waiting {
    let deadline: UInt64
    var tries = 0
    /// Spinning has ended, or a slice of sleep has passed since the last look for the dead.
    var isDueToLook = false
  }

  /// A pause between two tries: spins at first, then sleeps on the event for at most a slice. It is time to look for the dead
  /// before the first sleep and after each.
  /// - Returns: false when the time is over.
  func pause(_ round: inout Waiting) -> Bool {
    round.tries += 1
    round.isDueToLook = round.tries == Self.spins
    if round.tries <= Self.spins {
      shm_pause()
      return true
    }
    let now = HostClock.monotonicNanoseconds
    guard now < round.deadline else { return false }
    round.isDueToLook = true
    let value = gate.event.value
    ctl.storeRelease(RWLayout.sleepers, 1)
    _ = gate.event.wait(while: value, timeoutNanoseconds: min(Self.sliceNanoseconds, round.deadline - now))
    return true
  }
}

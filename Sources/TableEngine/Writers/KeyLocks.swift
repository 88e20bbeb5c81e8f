import CShims
import SharedMemory

/// Locks on keys, each held by one thread while its section runs, outside W: what barriers of some keys exclude each
/// other by.
///
/// A key lock lies in the slot of its thread (its keys as ``LockedKeys``, and a word of state), so it ends with the thread,
/// however the thread ends. It is waiting or held. All are asked for and granted under W, in the order of a stamp:
///
/// ```
/// grant, under W                                   release
/// no thread that holds, or waits with an older     state = none
///   stamp, meets it: state = held                  fence
/// else: keys; state = waiting, with a stamp;       sleepers != 0: sleepers = 0; event += 1, wake all
///   e = event; sleepers = 1; fence;
///   look again; unlock W;
///   sleep while event == e, at most a slice; lock W; again
/// ```
/// A thread that writes at once (a plain barrier, or a single `set`) waits in the same way, but only for the threads
/// that hold a key lock. It holds nothing while it waits, and no key lock with a later stamp is granted before it, so
/// no thread starves. No thread ever waits while it holds a key lock, so the key locks of one table cannot make a
/// circle of waits.
///
/// A waiter may be stopped, and would then keep younger ones from its keys. So a waiter that does not come for
/// ``patienceNanoseconds``, though nothing is in its way, is put aside by one that waits behind it: its state is none. When it
/// comes it takes its place again, with the stamp that it had.
///
/// Invariant: of two key locks that meet, and whose threads live, at most one is held; none is held that meets what the
/// owner of W writes, unless it is the owner's. `Models/key-locks.pml` checks that, and that no sleeper is forgotten.
struct KeyLocks {
  let ctl: MappedMemory
  let slots: Slots

  /// How long to sleep at most before looking for dead threads: a dead thread wakes no waiter.
  private static let sliceNanoseconds: UInt64 = 20_000_000
  /// For how long others wait for a waiter that could go on. One that lost its processor may come later than this: then it was put aside, and
  /// takes its place again with its old stamp.
  private static let patienceNanoseconds: UInt64 = 100_000_000

  // MARK: - State

  private enum State {
    static let none: UInt64 = 0
    private static let shift = UInt64(SHM_KEY_LOCK_STAMP_SHIFT)
    static func waiting(_ stamp: UInt64) -> UInt64 { stamp << shift }
    static func held(_ stamp: UInt64) -> UInt64 { stamp << shift | UInt64(SHM_KEY_LOCK_HELD) }
    static func isHeld(_ word: UInt64) -> Bool { word & UInt64(SHM_KEY_LOCK_HELD) != 0 }
    static func stamp(_ word: UInt64) -> UInt64 { word >> shift }
  }

  /// What one thread asks for; its process holds it until it is granted.
  struct Request {
    let slot: Int
    let keys: LockedKeys
    /// To hold the keys after W was given back; else to write under W at once.
    let isToHold: Bool
    /// 0 until the request is stored in the slot, as waiting or as held.
    fileprivate(set) var stamp: UInt64 = 0
    /// The event's value when the request was last found to have to wait.
    fileprivate var seen: UInt32 = 0
    /// The slot that was in the way at the last look, to be named in an error.
    fileprivate(set) var obstacle: Int?
    /// The stamp of the waiter that is waited for although it could go on, and since when.
    fileprivate var idle: (stamp: UInt64, since: UInt64)?

    init(slot: Int, keys: LockedKeys, isToHold: Bool) {
      self.slot = slot
      self.keys = keys
      self.isToHold = isToHold
    }
  }

  /// May any key lock be held or waited for? Raised and lowered under W, so the owner of W may believe a no.
  @inline(__always)
  var mayBeAny: Bool { stateWord != 0 }

  /// 0 if there is none.
  @inline(__always)
  var stateWord: UInt64 { ctl.loadRelaxed(ControlLayout.keyLocks) }

  private var event: FutexEvent { unsafe FutexEvent(at: ctl.pointer(ControlLayout.keyLockEvent)) }

  /// Does the slot's thread hold a key lock, as far as can be seen without W?
  func isHeld(by slot: Int) -> Bool { State.isHeld(ctl.loadAcquire(state(slot))) }

  /// Does it wait for one?
  func isWaiting(_ slot: Int) -> Bool {
    let word = ctl.loadAcquire(state(slot))
    return word != State.none && !State.isHeld(word)
  }

  private func state(_ slot: Int) -> Int { slots.offset(slot) + SlotLayout.keyLock }

  // MARK: - Under W

  /// Grants the request, or has it wait.
  /// - Returns: false if it has to wait: give W back, ``sleep(_:timeoutNanoseconds:)``, and ask again. End it by
  ///   ``release(slot:)`` if it is not to be asked again.
  func grant(_ request: inout Request) -> Bool {
    request.obstacle = findObstacle(to: request)
    if request.obstacle != nil {
      enqueue(&request)
      // PAIR key-lock-wait. Other end: KeyLocks.release. Either the thread that releases its key lock now finds a
      // sleeper, or we find the key lock gone.
      shm_fence_seqcst()
      request.obstacle = findObstacle(to: request)
      while request.obstacle != nil, putAside(&request) { request.obstacle = findObstacle(to: request) }
    }
    guard request.obstacle == nil else { return false }
    if request.isToHold {
      hold(&request)
    } else if request.stamp != 0 {
      release(slot: request.slot)
      request.stamp = 0
    }
    return true
  }

  /// A living thread's slot that holds a key lock, for an owner of W that cannot wait.
  func holder(except slot: Int) -> Int? { findObstacle(to: Request(slot: slot, keys: .table, isToHold: false)) }

  /// Has a living thread other than this slot's locked the key? For an owner of W that can leave the key alone.
  func isLocked(_ key: UnsafeRawBufferPointer, seed: UInt64, except slot: Int) -> Bool {
    guard mayBeAny else { return false }
    return findObstacle(to: Request(slot: slot, keys: unsafe LockedKeys(writing: key, seed: seed), isToHold: false))
      != nil
  }

  /// Writes the request down as one that waits, at first with a stamp that is younger than all.
  private func enqueue(_ request: inout Request) {
    if request.stamp == 0 {
      request.stamp = takeStamp()
      request.keys.store(ctl, slot: request.slot)
      ctl.storeRelease(state(request.slot), State.waiting(request.stamp))
    } else if ctl.loadRelaxed(state(request.slot)) == State.none {
      // It was put aside. Its keys are still in its slot.
      ctl.storeRelaxed(ControlLayout.keyLocks, 1)
      ctl.storeRelease(state(request.slot), State.waiting(request.stamp))
    }
    // The event's value is loaded before the mark that we sleep is stored. In the other order, a thread that releases
    // its key lock in between would clear our mark and advance the event. We would then sleep on the new value, and
    // nobody would wake us.
    request.seen = event.value
    ctl.storeRelaxed(ControlLayout.keyLockSleepers, 1)
  }

  private func hold(_ request: inout Request) {
    if request.stamp == 0 {
      request.stamp = takeStamp()
      request.keys.store(ctl, slot: request.slot)
    }
    // Anew, for a waiter that was put aside: meanwhile there may have been no key lock at all.
    ctl.storeRelaxed(ControlLayout.keyLocks, 1)
    ctl.storeRelease(state(request.slot), State.held(request.stamp))
  }

  /// Puts aside the first waiter in the line before this request, if nothing has been in its way for ``patienceNanoseconds`` and it has not come.
  /// - Returns: whether a waiter was put aside.
  private func putAside(_ request: inout Request) -> Bool {
    guard request.stamp != 0, let (waiter, word) = firstInLine(before: request) else {
      request.idle = nil
      return false
    }
    let now = HostClock.monotonicNanoseconds
    guard let idle = request.idle, idle.stamp == State.stamp(word) else {
      request.idle = (State.stamp(word), now)
      return false
    }
    guard now &- idle.since >= Self.patienceNanoseconds else { return false }
    request.idle = nil
    // The waiter may give up at this moment.
    return ctl.compareAndSwap(state(waiter), expected: word, desired: State.none)
  }

  /// The first waiter in the line before this request: one that could go on, since nothing is in its own way. Nil if the line ends at a key lock that
  /// is held. The walk goes from each waiter to the one that it waits for, which is older; so it ends. A thread that only writes at once waits for
  /// holders alone. Here it is treated as if it waited for older waiters as well, so those are put aside first.
  private func firstInLine(before request: Request) -> (slot: Int, word: UInt64)? {
    var first: (slot: Int, word: UInt64)?
    var next = request.obstacle
    while let slot = next {
      let word = ctl.loadAcquire(state(slot))
      guard word != State.none, !State.isHeld(word) else { return nil }
      first = (slot, word)
      var waiter = Request(slot: slot, keys: LockedKeys(ctl, slot: slot), isToHold: true)
      waiter.stamp = State.stamp(word)
      next = findObstacle(to: waiter)
    }
    return first
  }

  private func takeStamp() -> UInt64 {
    ctl.storeRelaxed(ControlLayout.keyLocks, 1)
    let stamp = ctl.loadRelaxed(ControlLayout.keyLockStamp) &+ 1
    ctl.storeRelaxed(ControlLayout.keyLockStamp, stamp)
    return stamp
  }

  /// A living thread's slot whose key lock is in the way. Lowers the hint if there is no key lock at all.
  private func findObstacle(to request: Request) -> Int? {
    var isAny = request.stamp != 0
    for slot in 0..<slots.highWater where slot != request.slot {
      // PAIR key-lock-release. Other end: KeyLocks.release. Acquire: an owner of W that finds a key lock gone sees what
      // its section did; else it could supersede an entry that the section still reads.
      let word = ctl.loadAcquire(state(slot))
      // A dead thread's key lock, even one that is not in the way, would have each later writer look here.
      if word == State.none || slots.clearIfDead(slot) { continue }
      isAny = true
      if isInTheWay(word, of: request), LockedKeys(ctl, slot: slot).meets(request.keys) { return slot }
    }
    if !isAny { ctl.storeRelaxed(ControlLayout.keyLocks, 0) }
    return nil
  }

  private func isInTheWay(_ word: UInt64, of request: Request) -> Bool {
    if State.isHeld(word) { return true }
    return request.isToHold && (request.stamp == 0 || State.stamp(word) < request.stamp)
  }

  // MARK: - Without W

  /// Sleeps until a key lock was released, at most a slice: then ask again, under W.
  func sleep(_ request: Request, timeoutNanoseconds: UInt64) {
    _ = event.wait(while: request.seen, timeoutNanoseconds: min(Self.sliceNanoseconds, timeoutNanoseconds))
  }

  /// Does a living thread seem to have locked the key? A key lock may come, change or go during the look: for whoever asks again
  /// under W, or may be wrong.
  func seemsLocked(_ key: UnsafeRawBufferPointer, seed: UInt64) -> Bool {
    guard mayBeAny else { return false }
    let keys = unsafe LockedKeys(writing: key, seed: seed)
    return (0..<slots.highWater).contains { slot in
      isHeld(by: slot) && LockedKeys(ctl, slot: slot).meets(keys) && slots.isHeld(slot)
    }
  }

  /// Ends the key lock of the calling thread's slot, held or waiting, and wakes all sleepers. With W or without.
  func release(slot: Int) {
    // PAIR key-lock-release. Other end: KeyLocks.findObstacle. Release: our last look at what we locked comes before.
    ctl.storeRelease(state(slot), State.none)
    // PAIR key-lock-wait. Other end: KeyLocks.grant. Without the fence both sides could miss each other, and the sleeper
    // would sleep for its whole slice.
    shm_fence_seqcst()
    guard ctl.loadRelaxed(ControlLayout.keyLockSleepers) != 0 else { return }
    ctl.storeRelaxed(ControlLayout.keyLockSleepers, 0)
    event.advance()
  }
}

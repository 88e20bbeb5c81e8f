import CShims
import SharedMemory

/// Keys that are somebody's while its closure runs, outside W: what keyed barriers exclude each other by.
///
/// A claim lies in the slot of the thread that makes it (its keys as a ``ClaimSet``, and a word of state), so it ends with its
/// thread, however that ends. It waits or is held. All claims are made and granted under W, in the order of a stamp:
///
/// ```
/// claim, under W                                   release
/// nobody who holds, or waits with an older         state = none
///   stamp, meets it: state = held                  fence
/// else: keys; state = waiting, with a stamp;       sleepers != 0: sleepers = 0; event += 1, wake all
///   e = event; sleepers = 1; fence;
///   look again; unlock W;
///   sleep while event == e, at most a slice; lock W; again
/// ```
/// Who owns W to write at once (a plain barrier, or a single `set`) waits in the same way, but only for those who hold:
/// it holds nothing while it waits, and its stamp lets no claim of after it go first. So nobody starves, and nobody ever waits
/// with a claim in hand: no circle of waits can arise from claims of one table.
///
/// Invariant: of two claims that meet, and whose threads live, at most one is held; none is held that meets what the owner
/// of W writes, unless by itself. `Models/claims.pml` checks that, and that nobody is forgotten asleep.
struct Claims {
  let ctl: Memory
  let slots: Slots

  /// How long to sleep at most before looking for the dead: they wake nobody.
  private static let sliceNanoseconds: UInt64 = 20_000_000

  // MARK: - State

  private enum State {
    static let none: UInt64 = 0
    static func waiting(_ stamp: UInt64) -> UInt64 { stamp << 1 }
    static func held(_ stamp: UInt64) -> UInt64 { stamp << 1 | 1 }
    static func isHeld(_ word: UInt64) -> Bool { word & 1 != 0 }
    static func stamp(_ word: UInt64) -> UInt64 { word >> 1 }
  }

  /// One thread's way to what it wants; kept by its process.
  struct Request {
    let slot: Int
    let keys: ClaimSet
    /// To hold it after W was given back; else to write under W at once.
    let claims: Bool
    /// 0 until it had to wait.
    fileprivate(set) var stamp: UInt64 = 0
    /// The event's value when it was found to have to wait.
    fileprivate var seen: UInt32 = 0
    /// Who was in the way when last looked, for people.
    fileprivate(set) var obstacle: Int?

    init(slot: Int, keys: ClaimSet, claims: Bool) {
      self.slot = slot
      self.keys = keys
      self.claims = claims
    }
  }

  /// May anybody hold or wait? Raised and lowered under W, so the owner of W may believe a no.
  @inline(__always)
  var mayBeAny: Bool { ctl.loadRelaxed(ControlLayout.claims) != 0 }

  private var event: FutexEvent { unsafe FutexEvent(at: ctl.pointer(ControlLayout.claimEvent)) }

  /// Does the slot's thread hold a claim, as far as can be seen without W?
  func isHeld(by slot: Int) -> Bool { State.isHeld(ctl.loadAcquire(state(slot))) }

  private func state(_ slot: Int) -> Int { slots.offset(slot) + SlotLayout.claim }

  // MARK: - Under W

  /// Grants the request, or has it wait.
  /// - Returns: false if it has to: give W back, ``sleep(_:timeoutNanoseconds:)``, and ask again. End it by
  ///   ``withdraw(slot:)`` if it is not to be asked again.
  func grant(_ request: inout Request) -> Bool {
    request.obstacle = obstacle(to: request)
    if request.obstacle != nil {
      announce(&request)
      // PAIR claim-wait. Other end: withdraw(slot:). Either who ends its claim now finds a sleeper, or we find it gone.
      shm_fence_seqcst()
      request.obstacle = obstacle(to: request)
    }
    guard request.obstacle == nil else { return false }
    if request.claims {
      hold(&request)
    } else if request.stamp != 0 {
      withdraw(slot: request.slot)
      request.stamp = 0
    }
    return true
  }

  /// A living thread's slot that holds a claim, for who has W and cannot wait.
  func holder(except slot: Int) -> Int? { obstacle(to: Request(slot: slot, keys: .table, claims: false)) }

  /// Has a living thread other than this slot's claimed the key? For who has W and can leave the key alone.
  func isClaimed(_ key: UnsafeRawBufferPointer, seed: UInt64, except slot: Int) -> Bool {
    guard mayBeAny else { return false }
    return obstacle(to: Request(slot: slot, keys: unsafe ClaimSet(writing: key, seed: seed), claims: false)) != nil
  }

  /// Writes the claim down as one that waits, at first with a stamp that is younger than all.
  private func announce(_ request: inout Request) {
    if request.stamp == 0 {
      request.stamp = nextStamp()
      request.keys.store(ctl, slot: request.slot)
      ctl.storeRelease(state(request.slot), State.waiting(request.stamp))
    }
    // First the value, then that we sleep: a wake-up that takes our mark for an older one's changes the value.
    request.seen = event.value
    ctl.storeRelaxed(ControlLayout.claimSleepers, 1)
  }

  private func hold(_ request: inout Request) {
    if request.stamp == 0 {
      request.stamp = nextStamp()
      request.keys.store(ctl, slot: request.slot)
    }
    ctl.storeRelease(state(request.slot), State.held(request.stamp))
  }

  private func nextStamp() -> UInt64 {
    ctl.storeRelaxed(ControlLayout.claims, 1)
    let stamp = ctl.loadRelaxed(ControlLayout.claimStamp) &+ 1
    ctl.storeRelaxed(ControlLayout.claimStamp, stamp)
    return stamp
  }

  /// A living thread's slot whose claim is in the way. Lowers the hint if there is no claim at all.
  private func obstacle(to request: Request) -> Int? {
    var isAny = request.stamp != 0
    for slot in 0..<slots.highWater where slot != request.slot {
      // PAIR claim-release. Other end: withdraw(slot:). Acquire: who finds a claim gone sees what was read and done in it.
      let word = ctl.loadAcquire(state(slot))
      if word == State.none { continue }
      isAny = true
      guard isInTheWay(word, of: request), ClaimSet(ctl, slot: slot).meets(request.keys), !slots.clearIfDead(slot)
      else { continue }
      return slot
    }
    if !isAny { ctl.storeRelaxed(ControlLayout.claims, 0) }
    return nil
  }

  private func isInTheWay(_ word: UInt64, of request: Request) -> Bool {
    if State.isHeld(word) { return true }
    return request.claims && (request.stamp == 0 || State.stamp(word) < request.stamp)
  }

  // MARK: - Without W

  /// Sleeps until a claim has ended, at most a slice: then ask again, under W.
  func sleep(_ request: Request, timeoutNanoseconds: UInt64) {
    _ = event.wait(while: request.seen, timeoutNanoseconds: min(Self.sliceNanoseconds, timeoutNanoseconds))
  }

  /// Ends the claim of the calling thread's slot, held or waiting, and wakes whoever waits. With W or without.
  func withdraw(slot: Int) {
    // PAIR claim-release. Release: our last look at what we claimed comes before.
    ctl.storeRelease(state(slot), State.none)
    // PAIR claim-wait. Other end: grant(_:).
    shm_fence_seqcst()
    guard ctl.loadRelaxed(ControlLayout.claimSleepers) != 0 else { return }
    ctl.storeRelaxed(ControlLayout.claimSleepers, 0)
    event.advance()
  }
}

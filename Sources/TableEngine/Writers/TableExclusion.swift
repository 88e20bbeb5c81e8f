/// What an owner of W must see to before it may change the table: readers of the rwlock variant are out, and nothing of
/// a dead writer's work is left undone.
struct TableExclusion {
  let participant: Segment.Participant

  private var variant: Variant { participant.state.variant }

  /// After W and ``WriterLockRecovery/inherit()``. Recovers if a dead owner left something.
  /// - Throws: `timedOut` naming a reader; `damaged`.
  func enter(slot: Int, _ deadline: UInt64) throws(EngineError) {
    participant.state.endTransaction()
    if variant == .rwlock { try participant.exclusion.enterExclusive(slot: slot, deadline: deadline) }
    if Recoverer(state: participant.state).isNeeded { Recoverer(state: participant.state).recover() }
    participant.ctl.storeRelaxed(ControlLayout.unfinished, 0)
    do throws(EngineError) {
      try DamageMark(ctl: participant.ctl).check()
    } catch {
      leave()
      throw error
    }
  }

  /// Has ``enter(slot:_:)`` nothing to do? In the rwlock variant it always has: it must keep readers out. In the RCU
  /// variant only a death leaves something undone, and ``ControlLayout/unfinished`` tells of that. A journal that is
  /// not empty although nobody died is damage, for `enter` to deal with.
  var isOpen: Bool { variant == .rcu && stateWord == 0 }

  /// Not 0 if there is something to be done to enter, whatever the variant.
  @inline(__always)
  var stateWord: UInt64 {
    participant.ctl.loadRelaxed(ControlLayout.unfinished) | DamageMark(ctl: participant.ctl).word
      | UInt64(truncatingIfNeeded: participant.state.journal.count)
  }

  /// Before W is given back.
  func leave() {
    if variant == .rwlock { participant.exclusion.leaveExclusive() }
  }
}

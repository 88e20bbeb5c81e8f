import CShims

/// Undoes or finishes what a dead writer was doing: the first work of the next owner of the writer lock.
///
/// Work grows with the transaction that was in flight, not with the table (G6). Every step is idempotent: a death of the
/// recovering process, at any store, is cured by the next one starting over.
struct Recoverer {
  let state: WriterState

  private var journal: Journal { state.journal }

  /// Did the last owner leave a transaction or a free pass unfinished?
  @inline(__always)
  var isNeeded: Bool {
    state.data.loadRelaxed(DataLayout.wseq) & 1 != 0 || journal.count != 0
      || state.limbo.head < state.limbo.freeEnd || state.superseded.head < state.superseded.freeEnd
  }

  /// Can a death have left *ctl* as it is? Else it is damaged.
  private var isRecoverable: Bool {
    // Marked already, perhaps by a repair that died: what lies in *ctl* is not to be believed.
    !DamageMark(ctl: state.ctl).isSet && JournalCheck(state: state).isRecoverable
  }

  /// Publishes the size that covers all units: a writer may have died after it counted a unit and before it published
  /// it.
  ///
  /// ORDER units-published. Allocator.growOneUnit, Shrinker.dropLastUnit: before a block of the unit is given out, or its
  /// pages go.
  func publishUnits() {
    if isRecoverable { state.allocator.publishUnits() }
  }

  /// A journal that no crash can have left is damage: then nothing is touched, the table is marked, and until a repair
  /// every barrier says `damaged`. Readers of the RCU variant keep the last committed version.
  func recover() {
    guard isRecoverable else { return DamageMark(ctl: state.ctl).set() }
    state.forgetRoom()
    state.allocator.publishUnits()
    FreePass(state: state).finish(state.limbo)
    FreePass(state: state).finish(state.superseded)
    if journal.count > 0, journal.version == state.committed {
      // The crash came after the commit: finish what follows it.
      Retirement(state: state).run()
      journal.clear()
    } else {
      if journal.count > 0 {
        finishRecycling()
        state.version = journal.version
        Undo(state: state).run()
        journal.clear()
      }
      CommitPoint(state: state).publishTick()
    }
    if state.data.loadRelaxed(DataLayout.wseq) & 1 != 0 { state.bumpSequence() }
    state.endTransaction()
    state.ctl.storeRelaxed(
      ControlLayout.recoveryCount, state.ctl.loadRelaxed(ControlLayout.recoveryCount) + 1)
  }

  /// A writer that died before ``Recycler/recycle(_:)`` had moved the head of *superseded* left the block there that the
  /// journal's last change allocates. It is recognised by that: no other death leaves an allocated block at the head.
  private func finishRecycling() {
    let superseded = state.superseded
    guard journal.count > 1, superseded.count > 0 else { return }
    let allocation = journal[journal.count - 2]
    guard allocation.kind == .allocate || allocation.kind == .allocateTombstone,
      superseded.block(superseded.head) == allocation.block
    else { return }
    Recycler(state: state).finish()
  }
}

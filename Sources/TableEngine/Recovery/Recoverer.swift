import CShims

/// What the next owner of the writer lock does when the last one died in it.
///
/// Work grows with the transaction that was in flight, not with the table (G6). Every step is idempotent: a crash
/// of the recoverer, at any store, is cured by the next one starting over.
extension Writer {
  /// Did the last owner leave a transaction or a free pass unfinished?
  var needsRecovery: Bool {
    data.loadRelaxed(DataLayout.wseq) & 1 != 0 || limbo.head < limbo.freeEnd || journal.count != 0
  }

  /// A journal that no crash can have left is damage: then nothing is touched, the table is marked for good, and
  /// every later barrier says `damaged`. Readers of the RCU variant keep the last committed version.
  func recover() {
    // Marked already, perhaps by a repair that died: what lies in *ctl* is not to be believed.
    guard ctl.loadRelaxed(ControlLayout.damaged) == 0, isRecoverable else { return giveUp() }
    allocator.publishUnits()
    finishFreePass()
    if journal.count > 0, journal.version == committed {
      // The crash came after the commit: finish what follows it.
      retire()
      journal.clear()
    } else {
      if journal.count > 0 {
        version = journal.version
        undo()
        journal.clear()
      }
      publishVersion(keyCount: keyCount)
    }
    if data.loadRelaxed(DataLayout.wseq) & 1 != 0 { bumpSequence() }
    inTransaction = false
    ctl.storeRelaxed(ControlLayout.recoveryCount, ctl.loadRelaxed(ControlLayout.recoveryCount) + 1)
  }

  /// Marks the table damaged, if it is not: every later barrier is refused until it is repaired.
  private func giveUp() { ctl.storeRelease(ControlLayout.damaged, 1) }
}

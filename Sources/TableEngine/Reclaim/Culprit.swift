/// Names the reader that stands in the way of reclaiming, for people: in the error of a write that found no room.
struct Culprit {
  let state: WriterState

  /// What stands in the way past the limbo budget, and the reader to blame for it. Nil: it has gone since.
  ///
  /// By the owner of W, outside a transaction. One that reads at the newest version counts as in the way from the next version on. No writer
  /// makes that while it is in the way: so this does.
  var shortage: EngineError.Shortage {
    shortage(EngineError.Shortage.limbo) { slot, committed in
      let pin = state.ctl.loadAcquire(state.slots.offset(slot) + SlotLayout.pin)
      if pin == committed { CommitPoint(state: state).publishTick() }
    }
  }

  /// The same below the budget.
  var shortageBelowBudget: EngineError.Shortage { shortage(EngineError.Shortage.reclaimable) { _, _ in } }

  private func shortage(
    _ ofReader: (Holder?) -> EngineError.Shortage, _ note: (_ slot: Int, _ committed: UInt64) -> Void
  ) -> EngineError.Shortage {
    guard let scan = ReaderScan.take(state) else {
      return .membarrier(state.slots.lightReader().map { state.slots.holder($0) })
    }
    guard let slot = scan.slotInTheWay(state) else { return ofReader(nil) }
    note(slot, scan.committed)
    return ofReader(state.slots.stalledReader(slot))
  }
}

/// Names the reader that stands in the way of reclaiming, for people: in the error of a write that found no room.
struct Culprit {
  let state: WriterState

  /// What stands in the way past the limbo budget, and the reader to blame for it. Nil: it has gone since, or there was none and rings
  /// cannot grow.
  ///
  /// By the owner of W, outside a transaction. A reader at the newest version is noted as in the way only once a later version exists. No write can
  /// commit one while the budget is exceeded, so this function publishes a tick.
  /// - Parameter slot: of the reader for which the evictor stopped, if it did. Another look might find it gone, and blame a snapshot that the
  ///   next attempt ends.
  func shortage(of slot: Int?) -> EngineError.Shortage {
    if let slot { return .limbo(isAnnouncing(slot) ? holderPastTick(slot, state.committed) : nil) }
    return shortage(EngineError.Shortage.limbo, holderPastTick)
  }

  private func isAnnouncing(_ slot: Int) -> Bool {
    let words = state.slots.offset(slot)
    let snapshot = state.ctl.loadAcquire(words + SlotLayout.snapshot)
    return SlotWord.announcement(snapshot, state.ctl.loadAcquire(words + SlotLayout.pin)) != SlotWord.idle
  }

  /// The reader of a slot. If it reads at the newest version, a tick makes the next one: else no version would be in its way.
  private func holderPastTick(_ slot: Int, _ committed: UInt64) -> Holder {
    let pin = state.ctl.loadAcquire(state.slots.offset(slot) + SlotLayout.pin)
    if pin == committed { CommitPoint(state: state).publishTick() }
    return state.slots.readerInTheWay(slot)
  }

  /// What stands in the way below the limbo budget, and the reader to blame for it. Nil: it has gone since, or there was none.
  var shortageBelowBudget: EngineError.Shortage {
    shortage(EngineError.Shortage.reclaimable) { slot, _ in state.slots.readerInTheWay(slot) }
  }

  private func shortage(
    _ ofReader: (Holder?) -> EngineError.Shortage, _ reader: (_ slot: Int, _ committed: UInt64) -> Holder
  ) -> EngineError.Shortage {
    guard let scan = ReaderScan.take(state) else {
      return .membarrier(state.slots.lightReader().map { state.slots.holder($0) })
    }
    guard let slot = scan.slotInTheWay(state) else { return ofReader(nil) }
    return ofReader(reader(slot, scan.committed))
  }
}

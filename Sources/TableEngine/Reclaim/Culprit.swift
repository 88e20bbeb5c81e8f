/// Names the reader that stands in the way of reclaiming, for people: in the error of a write that found no room.
struct Culprit {
  let state: WriterState

  /// What stands in the way past the limbo budget, and the reader to blame for it. Nil: it has gone since.
  var shortage: EngineError.Shortage { shortage(EngineError.Shortage.limbo) }

  /// The same below the budget.
  var shortageBelowBudget: EngineError.Shortage { shortage(EngineError.Shortage.reclaimable) }

  private func shortage(_ ofReader: (Holder?) -> EngineError.Shortage) -> EngineError.Shortage {
    guard let scan = ReaderScan.take(state) else {
      return .membarrier(state.slots.lightReader().map { state.slots.holder($0) })
    }
    return ofReader(scan.slotInTheWay(state).map { state.slots.stalledReader($0) })
  }
}

/// Names the reader that stands in the way of reclaiming, for people: in the error of a write that found no room.
struct Culprit {
  let state: WriterState

  /// What stands in the way past the limbo budget, and the reader at the oldest version as the one to blame.
  var shortage: EngineError.Shortage { shortage { scan in .limbo(scan.oldestSlot.map(named)) } }

  /// The same below the budget. A reader that reads at the newest version keeps nothing.
  var shortageBelowBudget: EngineError.Shortage {
    shortage { scan in .reclaimable(scan.isBehind(scan.committed) ? scan.oldestSlot.map(named) : nil) }
  }

  private func shortage(_ ofReaders: (ReaderScan) -> EngineError.Shortage) -> EngineError.Shortage {
    guard let scan = ReaderScan.take(state) else {
      return .membarrier(state.slots.lightReader().map { state.slots.holder($0) })
    }
    return ofReaders(scan)
  }

  private func named(_ slot: Int) -> Holder { state.slots.stalledReader(slot) }
}

/// Names the reader that stands in the way of reclaiming, for people: in the error of a write past the limbo budget.
struct Culprit {
  let state: TableState

  /// What stands in the way, and the reader at the oldest version as the one to blame.
  var shortage: EngineError.Shortage {
    let slots = state.slots
    guard let scan = ReaderScan.take(state) else { return .membarrier(slots.lightReader().map { slots.holder($0) }) }
    return .limbo(scan.oldestSlot.map { slots.stalledReader($0) })
  }
}

/// Makes *ctl* anew from what a ``TableSalvage`` kept of *data*. Under W, with the table marked damaged: a death on the way
/// leaves nothing that any process believes.
struct ControlRebuild {
  let state: WriterState

  func run(_ salvage: TableSalvage) throws(EngineError) {
    try rebuild(salvage)
    try fillVacancies(salvage.vacancies)
  }

  /// Journal, rings, allocator: as of a table in which nothing is superseded.
  ///
  /// Sizes go from one that is possible to another. Whoever opens the table checks them: if a death here left others, nobody could
  /// open it, and so nobody could repair it.
  private func rebuild(_ salvage: TableSalvage) throws(EngineError) {
    state.journal.clear()
    state.ctl.storeRelaxed(ControlLayout.journalAllocated, 0)
    try state.journal.reserve(1, state.backing)
    for ring in [state.limbo, state.superseded, state.retained] {
      try ring.initialize(state.backing)
      ring.clear()
    }
    state.ctl.storeRelaxed(ControlLayout.garbageBytes, 0)
    state.ctl.storeRelaxed(ControlLayout.triedSuperseded, 0)
    state.ctl.storeRelaxed(ControlLayout.triedGarbageBytes, 0)
    // Every chain has one entry now, and its `prev` is 0.
    state.ctl.storeRelaxed(ControlLayout.chainsCutAt, 0)
    state.ctl.storeRelaxed(ControlLayout.recyclableUpTo, 0)
    state.ctl.storeRelaxed(ControlLayout.retainedRescanEnd, 0)
    state.ctl.storeRelaxed(ControlLayout.retainedSignature, 0)
    state.ctl.storeRelaxed(ControlLayout.roomWanted, 0)
    if state.ctl.loadRelaxed(ControlLayout.limboBudget) > UInt64(Int.max) {
      let budget = SegmentOptions.defaultLimboBudgetBytes(capacityBytes: state.geometry.capacityBytes)
      state.ctl.storeRelaxed(ControlLayout.limboBudget, UInt64(budget))
    }
    try state.allocator.rebuild(salvage.map)
  }

  /// An empty sub-table for each part of the index that was lost. Its memory may be that of a lost one, into which nothing leads any more.
  private func fillVacancies(_ vacancies: [TableSalvage.Vacancy]) throws(EngineError) {
    for vacancy in vacancies {
      let block = try state.allocator.find(code: SizeClasses.code(byteCount: SubTable.byteCount), for: .anything)
      state.allocator.mark(block)
      state.data.zero(block.offset, count: SubTable.byteCount)
      vacancy.lead(to: block.offset, in: state.data)
    }
  }
}

/// Takes back a part of the transaction in flight; the rest of it goes on.
struct SavepointRollback {
  let state: WriterState

  private var journal: Journal { state.journal }

  /// Takes back what the transaction in flight did since the savepoint. It allocates nothing and cannot fail (I5).
  ///
  /// The journal keeps its length: what was built stays this transaction's until it ends, since a reader may have
  /// followed an uncommitted word (I3). Each record is converted into one that commit and undo treat alike.
  ///
  /// ORDER restore-convert. Undo.run after a death at any store leads to where the transaction began: newest first, each
  /// record's words are restored before it is converted. Were an older record converted first, undo would end with what
  /// a newer one overwrote: a word of this transaction.
  func run(to savepoint: JournalSavepoint) {
    precondition(
      state.inTransaction && savepoint.version == state.version && savepoint.recordCount <= journal.count,
      "a savepoint of another transaction")
    state.log.restore(endPosition: savepoint.logEndPosition, endOrdinal: savepoint.logEndOrdinal)
    state.keyDelta = savepoint.keyDelta
    state.keyRecords = WriterState.noKeyRecords
    let range = savepoint.recordCount..<journal.count
    state.work.recordsReplayed += range.count
    for index in range.reversed() {
      restore(index)
      crashFence()
      convert(index)
      crashFence()
    }
  }

  private func restore(_ index: Int) {
    let record = journal[index]
    if record.kind == .put || record.kind == .fill { BeforeImages(state: state).restore(record) }
  }

  private func convert(_ index: Int) {
    switch journal[index].kind {
    case .allocate, .allocateTombstone, .discard: journal.convert(index, to: .discard)
    case .put, .fill, .retire, .retain, .void, nil: journal.convert(index, to: .void)
    }
  }
}

/// What an abort does: takes back all of the transaction in flight, as if it had never begun.
///
/// ``Transaction/abort()`` and ``Recoverer`` run the same code. It starts from the positions that the journal saved, so
/// it may run any number of times.
struct Undo {
  let state: WriterState

  /// Takes back every store of the transaction in flight, newest first, and sends what it built to limbo: a reader
  /// may have followed an uncommitted word (I3).
  func run() {
    let journal = state.journal
    state.log.restore(
      endPosition: journal.saved(JournalLayout.logEndPosition),
      endOrdinal: journal.saved(JournalLayout.logEndOrdinal))
    var limbo = LimboTail(state)
    state.work.recordsReplayed += journal.count
    for index in stride(from: journal.count - 1, through: 0, by: -1) {
      let record = journal[index]
      switch record.kind {
      case .put, .fill:
        BeforeImages(state: state).restore(record)
      case .allocate, .allocateTombstone, .discard:
        state.allocator.mark(record.block)
        _ = limbo.push(record.block)
      case .retire, .retain, .void, nil:
        break
      }
    }
    crashFence()
    limbo.publish()
  }
}

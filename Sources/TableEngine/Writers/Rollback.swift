/// A place in the transaction in flight that it can be rolled back to.
///
/// The process keeps it, not the table: whoever recovers undoes the whole transaction. It lasts until its barrier ends
/// or is rolled back to an earlier one.
public struct JournalSavepoint: Sendable {
  let version: UInt64
  let recordCount: Int
  let keyDelta: Int
  let logEndPosition: UInt64
  let logEndOrdinal: UInt64
}

/// Savepoints: a part of a transaction is taken back, and the rest goes on.
extension Writer {
  var savepoint: JournalSavepoint {
    JournalSavepoint(
      version: version, recordCount: journal.count, keyDelta: keyDelta, logEndPosition: log.endPosition,
      logEndOrdinal: log.endOrdinal)
  }

  /// Takes back what the transaction in flight did since the savepoint. Claims nothing and cannot fail (I5).
  ///
  /// The journal keeps its length: what was built stays this transaction's until it ends, since a reader may have
  /// followed an uncommitted word (I3). Each record turns into one that commit and undo treat alike.
  ///
  /// ORDER restore-turn. A crash at any store leaves a journal whose undo leads to where the transaction began: newest
  /// first, each record's words before its turn. Were an older record turned first, undo would end with what a newer one
  /// overwrote: a word of this transaction.
  func rollback(to savepoint: JournalSavepoint) {
    precondition(
      inTransaction && savepoint.version == version && savepoint.recordCount <= journal.count,
      "a savepoint of another transaction")
    log.restore(endPosition: savepoint.logEndPosition, endOrdinal: savepoint.logEndOrdinal)
    keyDelta = savepoint.keyDelta
    let range = savepoint.recordCount..<journal.count
    work.recordsReplayed += range.count
    for index in range.reversed() {
      restore(index)
      crashFence()
      turn(index)
      crashFence()
    }
  }

  private func restore(_ index: Int) {
    let record = journal[index]
    if record.kind == .put || record.kind == .fill { restoreWords(record) }
  }

  private func turn(_ index: Int) {
    switch journal[index].kind {
    case .allocate, .allocateTombstone, .discard: journal.turn(index, into: .discard)
    case .put, .fill, .retire, .keep, .void, nil: journal.turn(index, into: .void)
    }
  }
}

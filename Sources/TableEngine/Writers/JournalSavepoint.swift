/// A place in the transaction in flight that it can be rolled back to.
///
/// The process holds it, not the table: the recovering process undoes the whole transaction. It lasts until its barrier
/// ends or is rolled back to an earlier one.
public struct JournalSavepoint: Sendable {
  let version: UInt64
  let recordCount: Int
  let keyDelta: Int
  let logEndPosition: UInt64
  let logEndOrdinal: UInt64

  init(_ state: WriterState) {
    version = state.version
    recordCount = state.journal.count
    keyDelta = state.keyDelta
    logEndPosition = state.log.endPosition
    logEndOrdinal = state.log.endOrdinal
  }
}

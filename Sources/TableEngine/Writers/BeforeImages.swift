/// Restores what an effect of the transaction in flight overwrote: for ``Undo``, which takes back all of it, and for
/// ``SavepointRollback``, which takes back a part.
struct BeforeImages {
  let state: WriterState

  /// Stores back the words of a `put` or `fill`. Release: the word leads to an entry or sub-table again, and a reader
  /// that follows it must find that whole.
  func restore(_ record: Journal.Record) {
    let count = record.kind == .put ? 1 : record.count
    for word in 0..<count { state.data.storeRelease(record.offset + word * 8, record.value) }
    state.work.wordsRestored += count
  }
}

/// Takes splits back: two sub-tables that a split could have made, and that have become sparse, become one again. A merge touches
/// those two and the directory words of their prefix; its work does not grow with the table.
///
/// A merge is a transaction of its own that commits as a tick. Readers are treated as by a split: those that came
/// before find all they could find in the old sub-tables, which go to limbo. A node of the directory stays as large as
/// it is until all below it is one sub-table that merges with the one beside the node. Then the root's words name the
/// merged sub-table, and the node is given back.
struct Merger {
  let state: WriterState
  private var vacancies: Vacancies

  /// Sub-tables looked at by one call.
  private static let subTablesPerCall = 64
  /// Keys that a merged sub-table may have: half of its words, so that it does not soon split again.
  private static let mostWords = SubTable.bucketCount * 8 / 2

  init(_ state: WriterState, _ vacancies: Vacancies) {
    self.state = state
    self.vacancies = vacancies
  }

  private var transaction: Transaction { Transaction(state: state) }

  /// Looks at the next sub-tables, around the whole directory call by call.
  /// - Returns: how many pairs were merged.
  mutating func run() -> Int {
    var merged = 0
    for _ in 0..<Self.subTablesPerCall {
      let prefix = state.nextPrefixToMerge
      let word = state.lookup.directoryWord(hash: prefix).word
      guard word.bits > 0 else { break }
      let step = 1 << UInt64(64 - word.bits) as UInt64
      let isLowerHalf = prefix & step == 0
      if isLowerHalf, merge(word, prefix: prefix, step: step) {
        merged += 1
      } else {
        state.nextPrefixToMerge = prefix &+ step
      }
    }
    return merged
  }

  /// Merges the sub-table of a prefix with that of the prefix behind it.
  private mutating func merge(_ lower: DirectoryWord, prefix: UInt64, step: UInt64) -> Bool {
    let upper = state.lookup.directoryWord(hash: prefix | step).word
    guard upper.bits == lower.bits, !lower.isDeep, !upper.isDeep,
      wordCount(lower.offset) + wordCount(upper.offset) <= Self.mostWords,
      let block = vacancies.find(code: SizeClasses.code(byteCount: SubTable.byteCount)),
      // Filled before the transaction begins: if the keys do not fit, no transaction is needed, and what was stored
      // lies in a free block, where nobody looks.
      fill(block.offset, from: [lower.offset, upper.offset])
    else { return false }
    transaction.begin()
    defer { transaction.commit() }
    do { try transaction.reserve(8) } catch { return false }
    state.journal.append(.allocate, value: block.raw)
    state.allocator.mark(block)
    let splitter = Splitter(transaction: transaction)
    let merged = DirectoryWord(subTable: block.offset, depth: lower.bits - 1)
    for (word, hash) in [(lower, prefix), (upper, prefix | step)] {
      splitter.replace(word, hash: hash, by: merged)
      transaction.retire(BlockRef(offset: word.offset, code: block.code))
    }
    return true
  }

  private func wordCount(_ subTable: Int) -> Int {
    stride(from: subTable, to: subTable + SubTable.byteCount, by: 8)
      .count { BucketWord.namesEntry(state.data.loadRelaxed($0)) }
  }

  /// - Returns: false if a key finds no room in its window.
  private func fill(_ target: Int, from subTables: [Int]) -> Bool {
    let splitter = Splitter(transaction: transaction)
    state.data.zero(target, count: SubTable.byteCount)
    var fits = true
    for subTable in subTables {
      splitter.forEachWord(in: subTable) { word, hash in
        if fits { fits = splitter.insert(word, hash: hash, into: target, steps: SubTable.window) }
      }
    }
    return fits
  }
}

/// What follows a commit: what the transaction superseded and unlinked goes onto the rings.
///
/// ``Transaction/commit()`` and ``Recoverer`` run the same code. It starts from the positions that the journal saved, so
/// it may run any number of times.
struct Retirement {
  let state: TableState

  private var ctl: Memory { state.ctl }
  private var journal: Journal { state.journal }
  private var superseded: Ring { state.superseded }

  /// Pushes the journal's records onto the rings. The rings' positions move last.
  func run() {
    var limbo = LimboTail(state)
    var supersededTail = journal.saved(JournalLayout.supersededTail)
    var retainedTail = journal.saved(JournalLayout.retainedTail)
    var garbage = journal.saved(JournalLayout.garbageBytes)
    var allocated = 0
    state.work.recordsReplayed += journal.count

    for index in 0..<journal.count {
      let record = journal[index]
      switch record.kind {
      case .allocate, .allocateTombstone:
        allocated = record.block.offset
      case .put:
        let old = BucketWord.offset(record.second)
        if old != 0 {
          let block = state.block(ofEntry: old)
          if state.variant == .rwlock {
            limbo.push(block)
          } else if !state.isTombstone(old) {
            push(block, newer: UInt64(allocated), &supersededTail, &garbage)
          }
        }
        if state.isTombstone(allocated), state.variant == .rcu, previousKind(index) == .allocateTombstone {
          // A tombstone has a record of its own: nothing supersedes one that stays at the head of its chain.
          push(state.block(ofEntry: allocated), newer: UInt64(allocated) | 1, &supersededTail, &garbage)
        }
      case .retire:
        limbo.push(record.block)
        if record.count == 1 { garbage -= UInt64(record.block.byteCount) }
      case .retain:
        let position = state.retained.position(retainedTail)
        ctl.storeRelaxed(position + RetainedRing.entry, UInt64(record.offset | record.count))
        ctl.storeRelaxed(position + RetainedRing.stamp, record.second)
        retainedTail += 1
      case .discard:
        limbo.push(record.block)
      case .fill, .void, nil:
        break
      }
    }
    crashFence()
    limbo.publish()
    superseded.setTail(supersededTail)
    superseded.setHead(journal.saved(JournalLayout.supersededHeadAfter))
    state.retained.setTail(retainedTail)
    state.retained.setHead(journal.saved(JournalLayout.retainedHeadAfter))
    ctl.storeRelaxed(ControlLayout.garbageBytes, garbage)
  }

  /// Pushes a record of *superseded*; see ``SupersededRing``.
  @inline(__always)
  private func push(_ block: BlockRef, newer: UInt64, _ tail: inout UInt64, _ garbage: inout UInt64) {
    let position = superseded.position(tail)
    ctl.storeRelaxed(position + SupersededRing.block, block.raw)
    ctl.storeRelaxed(position + SupersededRing.stamp, journal.version)
    ctl.storeRelaxed(position + SupersededRing.newer, newer)
    tail += 1
    garbage += UInt64(block.byteCount)
  }

  private func previousKind(_ index: Int) -> Journal.Kind? { index > 0 ? journal[index - 1].kind : nil }
}

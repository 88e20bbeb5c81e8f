/// What follows the commit, and what an abort does instead. Recovery calls the same two functions, so both start
/// from the journal's saved positions and may run any number of times.
extension Writer {
  /// Pushes what the committed transaction superseded and unlinked onto the rings. Rings' positions move last.
  func retire() {
    var limboTail = journal.saved(JournalLayout.limboTail)
    var limboBytes = journal.saved(JournalLayout.limboBytes)
    var supersededTail = journal.saved(JournalLayout.supersededTail)
    var retainedTail = journal.saved(JournalLayout.retainedTail)
    var garbage = journal.saved(JournalLayout.garbageBytes)
    var allocated = 0
    work.recordsReplayed += journal.count

    for index in 0..<journal.count {
      let record = journal[index]
      switch record.kind {
      case .allocate, .allocateTombstone:
        allocated = record.block.offset
      case .put:
        let old = BucketWord.offset(record.second)
        if old != 0 {
          let block = block(ofEntry: old)
          if variant == .rwlock {
            pushLimbo(block, &limboTail, &limboBytes)
          } else if !isTombstone(old) {
            ctl.storeRelaxed(superseded.position(supersededTail), UInt64(allocated))
            supersededTail += 1
            garbage += UInt64(block.byteCount)
          }
        }
        if isTombstone(allocated), variant == .rcu, previousKind(index) == .allocateTombstone {
          // Its own record: nothing supersedes a tombstone that stays at the head of its chain.
          ctl.storeRelaxed(superseded.position(supersededTail), UInt64(allocated) | 1)
          supersededTail += 1
          garbage += UInt64(self.block(ofEntry: allocated).byteCount)
        }
      case .retire:
        pushLimbo(record.block, &limboTail, &limboBytes)
        if record.count == 1 { garbage -= UInt64(record.block.byteCount) }
      case .keep:
        ctl.storeRelaxed(retained.position(retainedTail), record.second)
        retainedTail += 1
      case .discard:
        pushLimbo(record.block, &limboTail, &limboBytes)
      case .fill, .void, nil:
        break
      }
    }
    crashFence()
    limbo.setBytesPushed(limboBytes)
    limbo.setTail(limboTail)
    superseded.setTail(supersededTail)
    superseded.setHead(journal.saved(JournalLayout.supersededHeadAfter))
    retained.setTail(retainedTail)
    retained.setHead(journal.saved(JournalLayout.retainedHeadAfter))
    ctl.storeRelaxed(ControlLayout.garbageBytes, garbage)
  }

  /// Takes back every store of the transaction in flight, newest first, and sends what it built to limbo: a reader
  /// may have followed an uncommitted word (I3).
  func undo() {
    log.restore(
      endPosition: journal.saved(JournalLayout.logEndPosition),
      endOrdinal: journal.saved(JournalLayout.logEndOrdinal))
    var limboTail = journal.saved(JournalLayout.limboTail)
    var limboBytes = journal.saved(JournalLayout.limboBytes)
    work.recordsReplayed += journal.count
    for index in stride(from: journal.count - 1, through: 0, by: -1) {
      let record = journal[index]
      switch record.kind {
      case .put, .fill:
        restoreWords(record)
      case .allocate, .allocateTombstone, .discard:
        allocator.mark(record.block)
        pushLimbo(record.block, &limboTail, &limboBytes)
      case .retire, .keep, .void, nil:
        break
      }
    }
    crashFence()
    limbo.setBytesPushed(limboBytes)
    limbo.setTail(limboTail)
  }

  /// Stores back what the effect of a `put` or `fill` overwrote.
  func restoreWords(_ record: Journal.Record) {
    let count = record.kind == .put ? 1 : record.count
    for word in 0..<count { data.storeRelease(record.offset + word * 8, record.second) }
    work.wordsRestored += count
  }

  @inline(__always)
  private func pushLimbo(_ block: BlockRef, _ tail: inout UInt64, _ bytes: inout UInt64) {
    let position = limbo.position(tail)
    ctl.storeRelaxed(position, block.raw)
    ctl.storeRelaxed(position + 8, journal.version)
    tail += 1
    bytes += UInt64(block.byteCount)
  }

  private func isTombstone(_ entry: Int) -> Bool {
    entry != 0 && EntryMeta(raw: data.loadRelaxed(entry + Entry.meta)).isTombstone
  }

  private func previousKind(_ index: Int) -> Journal.Kind? { index > 0 ? journal[index - 1].kind : nil }
}

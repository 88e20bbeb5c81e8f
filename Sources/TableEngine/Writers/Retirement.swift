import CShims

/// What follows a commit: what the transaction superseded and unlinked goes onto the rings.
///
/// ``Transaction/commit()`` and ``Recoverer`` run the same code. It starts from the positions that the journal saved, so
/// it may run any number of times.
struct Retirement {
  let state: WriterState

  private var ctl: MappedMemory { state.ctl }
  private var journal: Journal { state.journal }

  /// Pushes the journal's records onto the rings. The rings' positions move last.
  @inline(never)
  func run() {
    state.work.recordsReplayed &+= journal.count
    var limbo = LimboTail(state)
    var superseded = SupersededTail(at: journal.saved(JournalLayout.supersededTail))
    var retainedTail = journal.saved(JournalLayout.retainedTail)
    var garbage = journal.saved(JournalLayout.garbageBytes)
    var allocated = BlockRef(raw: 0)
    var isTombstone = false
    let count = journal.count
    for index in 0..<count {
      let record = journal[index]
      switch record.kind {
      case .allocate:
        allocated = record.block
        isTombstone = false
      case .allocateTombstone:
        allocated = record.block
        isTombstone = true
      case .put:
        let old = BucketWord.offset(record.value)
        if old != 0 { retire(old, newer: allocated, &superseded, &limbo) }
        if isTombstone {
          superseded.push(
            allocated, named: TombstoneHint.unknown.raw, stamp: SupersededRing.unsettled,
            onto: state.superseded)
          isTombstone = false
        }
      case .retire:
        let byteCount = limbo.push(record.block)
        if record.count == 1 { garbage &-= byteCount }
      case .retain:
        let position = state.retained.position(retainedTail)
        ctl.storeRelaxed(position &+ RetainedRing.entry, UInt64(record.offset | record.count))
        ctl.storeRelaxed(position &+ RetainedRing.stamp, record.value)
        retainedTail &+= 1
      case .discard:
        _ = limbo.push(record.block)
      case .fill, .void, nil:
        break
      }
    }
    crashFence()
    limbo.publish()
    superseded.publish(state.superseded)
    state.superseded.setHead(journal.saved(JournalLayout.supersededHeadAfter))
    state.retained.setTail(retainedTail)
    state.retained.setHead(journal.saved(JournalLayout.retainedHeadAfter))
    ctl.storeRelaxed(ControlLayout.garbageBytes, garbage &+ superseded.bytes)
  }

  /// Retires the entry that a `put` replaced. In the rwlock variant it goes to limbo, and is freed right after the
  /// commit. In the RCU variant it goes to *superseded*, unless it is a tombstone: its own transaction has pushed it
  /// there.
  @inline(__always)
  private func retire(
    _ old: Int, newer: BlockRef, _ superseded: inout SupersededTail, _ limbo: inout LimboTail
  ) {
    let meta = EntryMeta(raw: state.data.loadRelaxed(old &+ Entry.meta))
    let block = state.block(ofEntry: old, meta)
    if state.variant == .rwlock {
      // In a table whose slabs are full the next put takes this block. Nothing has loaded its lines behind the first.
      unsafe shm_prefetch_to_store(state.data.pointer(old &+ 64))
      unsafe shm_prefetch_to_store(state.data.pointer(old &+ 128))
      _ = limbo.push(block)
    } else if !meta.isTombstone {
      superseded.push(
        block, named: UInt64(truncatingIfNeeded: newer.offset), stamp: journal.version, onto: state.superseded)
    }
  }
}

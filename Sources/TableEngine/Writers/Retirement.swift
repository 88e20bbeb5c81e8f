/// What follows a commit: what the transaction superseded and unlinked goes onto the rings.
///
/// ``Transaction/commit()`` and ``Recoverer`` run the same code. It starts from the positions that the journal saved, so
/// it may run any number of times.
struct Retirement {
  let state: TableState

  private var ctl: Memory { state.ctl }
  private var journal: Journal { state.journal }

  /// Pushes the journal's records onto the rings. The rings' positions move last.
  @inline(__always)
  func run() {
    state.work.recordsReplayed &+= journal.count
    if state.variant == .rwlock || !runOnKeys() { runOnAnything() }
  }

  /// For a transaction that stored and removed keys and did nothing else: its records are pairs.
  ///
  /// The words of limbo and *retained* are what the journal saved, since only other kinds of records move them, so it leaves
  /// them alone; what it stores it stores as ``runOnAnything()`` does, which therefore may begin anew where this gave up.
  /// - Returns: whether it has done all.
  @inline(__always)
  private func runOnKeys() -> Bool {
    var superseded = SupersededTail(state)
    var garbage = journal.saved(JournalLayout.garbageBytes)
    let count = journal.count
    guard count > 0, count & 1 == 0 else { return false }
    var index = 0
    while index < count {
      let (allocation, put) = (journal[index], journal[index &+ 1])
      let isTombstone = allocation.isOf(.allocateTombstone)
      guard isTombstone || allocation.isOf(.allocate), put.isOf(.put) else { return false }
      let old = BucketWord.offset(put.second)
      if old != 0 {
        let meta = EntryMeta(raw: state.data.loadRelaxed(old &+ Entry.meta))
        if !meta.isTombstone {
          let block = TableState.block(ofEntry: old, meta)
          garbage &+= superseded.push(block, newer: UInt64(truncatingIfNeeded: allocation.block.offset))
        }
      }
      if isTombstone {
        let tombstone = allocation.block
        garbage &+= superseded.push(tombstone, newer: UInt64(truncatingIfNeeded: tombstone.offset) | 1)
      }
      index &+= 2
    }
    crashFence()
    superseded.publish()
    ctl.storeRelaxed(ControlLayout.garbageBytes, garbage)
    return true
  }

  @inline(never)
  private func runOnAnything() {
    var limbo = LimboTail(state)
    var superseded = SupersededTail(state)
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
        let old = BucketWord.offset(record.second)
        if old != 0 { retire(old, newer: allocated, &superseded, &limbo, &garbage) }
        if isTombstone {
          // A tombstone has a record of its own: nothing supersedes one that stays at the head of its chain.
          garbage &+= superseded.push(allocated, newer: UInt64(allocated.offset) | 1)
          isTombstone = false
        }
      case .retire:
        let byteCount = limbo.push(record.block)
        if record.count == 1 { garbage &-= byteCount }
      case .retain:
        let position = state.retained.position(retainedTail)
        ctl.storeRelaxed(position &+ RetainedRing.entry, UInt64(record.offset | record.count))
        ctl.storeRelaxed(position &+ RetainedRing.stamp, record.second)
        retainedTail &+= 1
      case .discard:
        _ = limbo.push(record.block)
      case .fill, .void, nil:
        break
      }
    }
    crashFence()
    limbo.publish()
    superseded.publish()
    state.retained.setTail(retainedTail)
    state.retained.setHead(journal.saved(JournalLayout.retainedHeadAfter))
    ctl.storeRelaxed(ControlLayout.garbageBytes, garbage)
  }

  /// What a `put` took the place of: in the rwlock variant free once readers may come in again, else superseded, unless it is a
  /// tombstone, whose own transaction named it.
  @inline(__always)
  private func retire(
    _ old: Int, newer: BlockRef, _ superseded: inout SupersededTail, _ limbo: inout LimboTail, _ garbage: inout UInt64
  ) {
    let meta = EntryMeta(raw: state.data.loadRelaxed(old &+ Entry.meta))
    let block = TableState.block(ofEntry: old, meta)
    if state.variant == .rwlock {
      _ = limbo.push(block)
    } else if !meta.isTombstone {
      garbage &+= superseded.push(block, newer: UInt64(newer.offset))
    }
  }
}

import CShims

/// The first half of reclaiming: a transaction of its own that unlinks old versions which no reader needs, and retains
/// the others for a later look. It commits as a tick.
struct UnlinkPass {
  let state: TableState
  let scan: ReaderScan
  /// Did the pass retain anything for a reader that had not decided on a snapshot?
  private var retainedForPending = false

  /// Superseded versions looked at in one pass: bounds what a single write may be made to do.
  static let batch = 256

  init(_ state: TableState, _ scan: ReaderScan) {
    self.state = state
    self.scan = scan
  }

  private var data: Memory { state.data }
  private var ctl: Memory { state.ctl }
  private var journal: Journal { state.journal }
  private var superseded: Ring { state.superseded }
  private var retained: Ring { state.retained }
  private var transaction: Transaction { Transaction(state: state) }

  /// - Returns: how many versions were unlinked.
  mutating func run() -> Int {
    let old = retainedToReconsider()
    retainedForPending = false
    // *retained* keeps room for a batch to be retained again: were it ever full, what its snapshots left behind could
    // not be looked at, and nothing would ever be reclaimed.
    let space = retained.maximumRecords - retained.count - Self.batch - 1
    let fresh = max(0, min(superseded.count, Self.batch, space))
    guard fresh + old > 0, reserve(fresh + old) else { return 0 }
    transaction.begin()
    var unlinked = 0
    for index in 0..<old {
      unlinked += reconsider(ctl.loadRelaxed(retained.position(retained.head + UInt64(index))))
    }
    for index in 0..<fresh {
      unlinked += consider(ctl.loadRelaxed(superseded.position(superseded.head + UInt64(index))))
    }
    journal.save(JournalLayout.supersededHeadAfter, superseded.head + UInt64(fresh))
    journal.save(JournalLayout.retainedHeadAfter, retained.head + UInt64(old))
    // What a pending reader needs may be free to go a moment later; what a snapshot needs waits for the snapshot.
    // ORDER retained-commit. UnlinkPass.retainedToReconsider, of a later pass. Before the commit: a writer that dies
    // after it would leave entries retained that no pass looks at again while the snapshots stay the same.
    if retainedForPending {
      ctl.storeRelaxed(ControlLayout.retainedSignature, 0)
      crashFence()
    }
    transaction.commit()
    return unlinked
  }

  /// How many records of *retained* this pass looks at again: those from before the snapshots changed.
  private func retainedToReconsider() -> Int {
    let signature = scan.needed.signature
    if ctl.loadRelaxed(ControlLayout.retainedSignature) != signature {
      // ORDER due-signature. UnlinkPass.retainedToReconsider, after a death here: a later pass must not find the
      // signature without what it makes due.
      ctl.storeRelaxed(ControlLayout.retainedRescanEnd, retained.tail)
      crashFence()
      ctl.storeRelaxed(ControlLayout.retainedSignature, signature)
    }
    let rescanEnd = ctl.loadRelaxed(ControlLayout.retainedRescanEnd)
    return rescanEnd > retained.head ? min(Int(rescanEnd - retained.head), Self.batch) : 0
  }

  private func reserve(_ records: Int) -> Bool {
    do {
      try journal.reserve(records * 2 + 2, state.backing)
      try state.limbo.reserve(records + 1, state.backing)
      try retained.reserve(records + 1, state.backing)
      return true
    } catch {
      return false
    }
  }

  /// A record of *superseded*: an entry, whose `prev` is what it superseded; or (bit 0) a tombstone.
  private mutating func consider(_ record: UInt64) -> Int {
    state.work.versionsScanned += 1
    let newer = Int(record & ~1)
    if record & 1 != 0 { return reconsider(record) }
    let x = Int(data.loadRelaxed(newer + Entry.prev))
    return unlinkOrRetain(0, x, newer: newer)
  }

  /// A record of *retained*: the superseded entry itself. Its neighbour may have changed: found from the chain's head.
  private mutating func reconsider(_ record: UInt64) -> Int {
    state.work.versionsScanned += 1
    let x = Int(record & ~1)
    let meta = EntryMeta(raw: data.loadRelaxed(x + Entry.meta))
    let key = unsafe data.pointer(x + meta.keyOffset)
    let location = unsafe state.lookup.locate(key, meta.keyLength, hash: state.hashOfEntry(x))
    let head = BucketWord.offset(location.word)
    if head == x { return unlinkOrRetainHead(record, x, location) }
    var newer = head
    while newer != 0 {
      let next = Int(data.loadRelaxed(newer + Entry.prev))
      if next == x { return unlinkOrRetain(record, x, newer: newer) }
      newer = next
    }
    return 0
  }

  private mutating func unlinkOrRetain(_ record: UInt64, _ x: Int, newer: Int) -> Int {
    let version = data.loadRelaxed(x + Entry.version)
    switch scan.needed.need(of: version, newer: data.loadRelaxed(newer + Entry.version)) {
    case .none:
      unlink(x, after: newer)
      return 1
    case .pending:
      retainedForPending = true
    case .snapshot:
      break
    }
    // A record of *superseded* names the newer entry, one of *retained* the entry itself.
    journal.append(.retain, value: UInt64(x) | (record & 1))
    return 0
  }

  /// PAIR chain-prev. Other end: Lookup.visible. Release: the chain's rest must be visible to a reader that now comes to
  /// it by this word.
  private func unlink(_ x: Int, after newer: Int) {
    journal.append(.fill, offset: newer + Entry.prev, count: 1, value: UInt64(x))
    data.storeRelease(newer + Entry.prev, data.loadRelaxed(x + Entry.prev))
    transaction.retire(state.block(ofEntry: x), garbage: true)
  }

  /// A tombstone at the head of its chain goes when nothing older hangs behind it: absent is absent, at any snapshot.
  private func unlinkOrRetainHead(_ record: UInt64, _ x: Int, _ location: Location) -> Int {
    guard data.loadRelaxed(x + Entry.prev) == 0 else {
      journal.append(.retain, value: record)
      return 0
    }
    journal.append(.fill, offset: location.wordOffset, count: 1, value: location.word)
    data.storeRelease(location.wordOffset, BucketWord.deleted)
    transaction.retire(state.block(ofEntry: x), garbage: true)
    return 1
  }
}

import CShims
import SharedMemory

/// Reclamation of the RCU variant: unlink what no reader can want, free what no reader can see.
///
/// Proof sketch. (1) A reader announces PEND|e or a pin before it loads `committed` a second time, and HEAVY puts
/// that announcement before our scan or its second load after our load of C (I2). In the first case the scan honours
/// it; in the second its snapshot is at least C, and every unlink it could trip over was committed at a stamp
/// <= C, that is before it started. (2) A version x is unlinked only if no announced snapshot lies in
/// [x.version, newer.version) and no pending reader is below newer.version. (3) A block is freed only if its stamp
/// is not above C, any live pin, or any pending e: whoever could hold a pointer to it has announced something
/// below its stamp, since the unlink came before `committed = stamp` (I1). The models in `Models/` check this with
/// crashes between any two stores.
extension Writer {
  /// Superseded versions looked at in one gc transaction: bounds what a single write may be made to do.
  static let gcBatch = 256
  /// Superseded versions that must have piled up before a commit runs gc: HEAVY's cost is shared among them.
  static let gcThreshold = 128
  /// What a freed block is filled with, if the table was made so. As an entry: of a version above every snapshot, and
  /// linked to an offset beyond every address.
  static let poison: UInt8 = 0xdb
  /// Bytes in limbo that make gc due all the same: old sub-tables are few and large.
  static let gcThresholdBytes = 128 << 10

  var isCollectionDue: Bool {
    superseded.count >= Self.gcThreshold || limbo.tail &- triedLimboTail >= UInt64(Self.gcThreshold)
      || limbo.bytesPushed &- triedLimboBytes >= UInt64(Self.gcThresholdBytes)
  }

  /// Looks at the readers. Nil where this process may not issue the barrier that light readers rely on: then gc is
  /// left to others.
  func scanReaders() -> (committed: UInt64, scan: ReaderScan)? {
    let committed = data.loadAcquire(DataLayout.committed)
    // PAIR light-flag. Other end: Segment.announceFencing. The fence puts our `committed` before our look at the flag:
    // a process that sets it after that look reads at C or later.
    shm_fence_seqcst()
    // PAIR heavy-light. Other end: Segment.announce. I2: C before HEAVY, slots after.
    // PAIR light-slot. Other end: Slots.take. Where HEAVY is denied, the same fence, with the slots' own flags: without a
    // living light reader every announcement was an exchange, and whoever turns up later reads at C or later.
    let slots = Slots(ctl: ctl, count: geometry.slotCount)
    if ctl.loadAcquire(ControlLayout.lightReaders) != 0, !Membarrier.heavy(), slots.lightReader() != nil {
      return nil
    }
    var scan = ReaderScan()
    for index in 0..<slots.highWater {
      work.slotsScanned += 1
      let slot = slots.offset(index)
      // PAIR slot-scan. Other end: Segment.endRead. Acquire: who is found gone has read its last.
      let snapshot = ctl.loadAcquire(slot + SlotLayout.snapshot)
      let pin = ctl.loadAcquire(slot + SlotLayout.pin)
      if snapshot == SlotWord.idle, pin == SlotWord.idle { continue }
      let behind = (snapshot & SlotWord.versionMask) < committed || pin < committed
      if behind, slots.clearIfDead(index) { continue }
      if behind { slots.noteInTheWay(index, SlotWord.oldest(snapshot, pin)) }
      scan.add(slot: index, snapshot: snapshot, pin: pin)
    }
    return (committed, scan)
  }

  /// One pass of gc: its own transaction, then a free pass. Never inside an open barrier.
  /// - Returns: whether anything was unlinked or freed.
  @discardableResult
  func collect() -> Bool {
    guard variant == .rcu, !inTransaction, let (committed, scan) = scanReaders() else { return false }
    raiseReclaimed(committed)
    let unlinked = unlinkSuperseded(scan)
    let freed = releaseLimbo(committed, scan)
    // What a stalled reader holds back is not tried again until as much has come on top.
    triedLimboTail = limbo.tail
    triedLimboBytes = limbo.bytesPushed
    return unlinked + freed > 0
  }

  /// PAIR reclaimed-unlink. Other end: Observer.validate. `reclaimed` must be visible before the first unlink or
  /// reuse: an observer at an older snapshot that reads what we change then finds it raised.
  private func raiseReclaimed(_ version: UInt64) {
    if data.loadRelaxed(DataLayout.reclaimed) < version { data.storeRelaxed(DataLayout.reclaimed, version) }
    shm_fence_release()
  }

  /// The gc transaction. Keeps what is needed, unlinks the rest; commits as a tick.
  private func unlinkSuperseded(_ scan: ReaderScan) -> Int {
    if ctl.loadRelaxed(ControlLayout.retainedSignature) != scan.signature {
      // ORDER due-signature. Recovery's gc must not find the signature without what it makes due.
      ctl.storeRelaxed(ControlLayout.retainedRescanEnd, retained.tail)
      crashFence()
      ctl.storeRelaxed(ControlLayout.retainedSignature, scan.signature)
    }
    let rescanEnd = ctl.loadRelaxed(ControlLayout.retainedRescanEnd)
    let old = rescanEnd > retained.head ? min(Int(rescanEnd - retained.head), Self.gcBatch) : 0
    keptForPending = false
    // *retained* keeps room for a batch to be kept again: were it ever full, what its snapshots left behind could
    // not be looked at, and nothing would ever be reclaimed.
    let space = retained.maximumRecords - retained.count - Self.gcBatch - 1
    let fresh = max(0, min(superseded.count, Self.gcBatch, space))
    guard fresh + old > 0, makeRoomForCollection(fresh + old) else { return 0 }
    begin()
    var unlinked = 0
    for index in 0..<old {
      unlinked += reconsider(ctl.loadRelaxed(retained.position(retained.head + UInt64(index))), scan)
    }
    for index in 0..<fresh {
      unlinked += consider(ctl.loadRelaxed(superseded.position(superseded.head + UInt64(index))), scan)
    }
    journal.save(JournalLayout.supersededHeadAfter, superseded.head + UInt64(fresh))
    journal.save(JournalLayout.retainedHeadAfter, retained.head + UInt64(old))
    // What a pending reader kept may be free to go a moment later; what a snapshot keeps waits for the snapshot.
    // ORDER kept-commit. Before the commit: whoever dies after it leaves no entry kept that nobody would look at again.
    if keptForPending {
      ctl.storeRelaxed(ControlLayout.retainedSignature, 0)
      crashFence()
    }
    commit()
    return unlinked
  }

  private func makeRoomForCollection(_ records: Int) -> Bool {
    do {
      try journal.reserve(records * 2 + 2, backing)
      try limbo.reserve(records + 1, backing)
      try retained.reserve(records + 1, backing)
      return true
    } catch {
      return false
    }
  }

  /// A record of *superseded*: an entry, whose `prev` is what it superseded; or (bit 0) a tombstone.
  private func consider(_ record: UInt64, _ scan: ReaderScan) -> Int {
    work.versionsScanned += 1
    let newer = Int(record & ~1)
    if record & 1 != 0 { return reconsider(record, scan) }
    let x = Int(data.loadRelaxed(newer + Entry.prev))
    return settle(0, x, newer: newer, scan)
  }

  /// A record of *retained*: the superseded entry itself. Its neighbour may have changed: found from the chain's head.
  private func reconsider(_ record: UInt64, _ scan: ReaderScan) -> Int {
    work.versionsScanned += 1
    let x = Int(record & ~1)
    let meta = EntryMeta(raw: data.loadRelaxed(x + Entry.meta))
    let key = unsafe data.pointer(x + meta.keyOffset)
    let location = unsafe lookup.locate(key, meta.keyLength, hash: hashOfEntry(x))
    let head = BucketWord.offset(location.word)
    if head == x { return settleHead(record, x, location) }
    var newer = head
    while newer != 0 {
      let next = Int(data.loadRelaxed(newer + Entry.prev))
      if next == x { return settle(record, x, newer: newer, scan) }
      newer = next
    }
    return 0
  }

  private func settle(_ record: UInt64, _ x: Int, newer: Int, _ scan: ReaderScan) -> Int {
    let version = data.loadRelaxed(x + Entry.version)
    switch scan.need(of: version, newer: data.loadRelaxed(newer + Entry.version)) {
    case .none:
      unlink(x, after: newer)
      return 1
    case .pending:
      keptForPending = true
    case .snapshot:
      break
    }
    // A record of *superseded* names the newer entry, one of *retained* the entry itself.
    journal.append(.keep, value: UInt64(x) | (record & 1))
    return 0
  }

  /// PAIR chain-prev. Other end: Lookup.visible.
  private func unlink(_ x: Int, after newer: Int) {
    journal.append(.fill, offset: newer + Entry.prev, count: 1, value: UInt64(x))
    data.storeRelease(newer + Entry.prev, data.loadRelaxed(x + Entry.prev))
    retire(block(ofEntry: x), garbage: true)
  }

  /// A tombstone at the head of its chain goes when nothing older hangs behind it: absent is absent, at any snapshot.
  private func settleHead(_ record: UInt64, _ x: Int, _ location: Location) -> Int {
    guard data.loadRelaxed(x + Entry.prev) == 0 else {
      journal.append(.keep, value: record)
      return 0
    }
    journal.append(.fill, offset: location.wordOffset, count: 1, value: location.word)
    data.storeRelease(location.wordOffset, BucketWord.deleted)
    retire(block(ofEntry: x), garbage: true)
    return 1
  }

  // MARK: - Free pass

  /// Frees what no reader can see any more. Also inside an open barrier that is short of room.
  /// - Returns: the number of blocks freed.
  func releaseLimbo() -> Int {
    if variant == .rwlock {
      // Inside the barrier readers are out, but what this transaction unlinked is undo's until the commit: limbo
      // holds only what earlier ones did.
      return freePass(upTo: .max)
    }
    guard limbo.count > 0, let (committed, scan) = scanReaders() else { return 0 }
    raiseReclaimed(committed)
    return releaseLimbo(committed, scan)
  }

  private func releaseLimbo(_ committed: UInt64, _ scan: ReaderScan) -> Int {
    return freePass(upTo: min(committed, scan.lowestPin))
  }

  /// ORDER freeend-bits-head. Frees limbo's records up to the first with a later stamp. `freeEnd` is published before the first bit is
  /// cleared: after a crash the same blocks are cleared again, never fewer and never others.
  func freePass(upTo stamp: UInt64) -> Int {
    var end = limbo.head
    var bytes = limbo.bytesPopped
    while end != limbo.tail, ctl.loadRelaxed(limbo.position(end) + 8) <= stamp {
      let block = BlockRef(raw: ctl.loadRelaxed(limbo.position(end)))
      allocator.prefetch(block)
      bytes += UInt64(block.byteCount)
      end += 1
    }
    let count = Int(end - limbo.head)
    guard count > 0 else { return 0 }
    limbo.setBytesPoppedAfter(bytes)
    crashFence()
    limbo.setFreeEnd(end)
    crashFence()
    finishFreePass()
    return count
  }

  /// The second half of a free pass; recovery finishes one that a crash cut short.
  func finishFreePass() {
    var position = limbo.head
    guard position < limbo.freeEnd else { return }
    let poisons = ctl.loadRelaxed(ControlLayout.poisonsFreedBlocks) != 0
    while position < limbo.freeEnd {
      let block = BlockRef(raw: ctl.loadRelaxed(limbo.position(position)))
      // Before its bits are cleared, and again after a crash: until the head moves nobody can have got it anew.
      if poisons { data.fill(block.offset, count: block.byteCount, with: Self.poison) }
      allocator.release(block)
      work.blocksFreed += 1
      position += 1
    }
    crashFence()
    limbo.setBytesPopped(limbo.bytesPoppedAfter)
    limbo.setHead(position)
  }
}

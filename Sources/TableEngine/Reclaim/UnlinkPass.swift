import CShims

/// Unlinks what ``InPlacePass`` must leave where a snapshot is in its way: old versions that were superseded after that
/// snapshot, and tombstones that are not settled. It is a transaction of its own that commits as a tick: it unlinks the
/// versions that no reader needs, and retains the others for a later look.
///
/// The pass looks at nothing that was superseded after the version of a pending reader. That reader may take any
/// version from the announced one on, so it needs all of this, and each pass over it would gain nothing.
struct UnlinkPass {
  let state: WriterState
  let scan: ReaderScan
  /// Did the pass retain anything for a reader that had not decided on a snapshot?
  private var retainedForPending = false

  /// Superseded versions looked at in one pass: bounds what a single write may be made to do.
  static let batch = 256

  init(_ state: WriterState, _ scan: ReaderScan) {
    self.state = state
    self.scan = scan
  }

  private var data: MappedMemory { state.data }
  private var ctl: MappedMemory { state.ctl }
  private var journal: Journal { state.journal }
  private var superseded: Ring { state.superseded }
  private var retained: Ring { state.retained }
  private var transaction: Transaction { Transaction(state: state) }

  /// - Returns: how many versions were unlinked.
  mutating func run() -> Int {
    var old = retainedToReconsider()
    retainedForPending = false
    // *retained* keeps room for a batch to be retained again. With less, fewer of the versions in it could be looked at in one
    // pass, to find those that no snapshot needs any more.
    let space = retained.maximumRecords - retained.count - Self.batch - 1
    let most = max(0, min(superseded.count, Self.batch, space))
    var fresh = 0
    let lowest = scan.needed.lowestPending
    while fresh < most, state.versionNamed(by: superseded.head + UInt64(fresh)) <= lowest { fresh += 1 }
    guard fresh + old > 0 else { return 0 }
    if !reserve(fresh + old) {
      // Where *retained* cannot grow, as many as it has room for. Each transaction leaves some (``Transaction/reserve(_:)``). If the pass
      // gave up instead, what snapshots kept would stay when they have ended, and the table would be full for good.
      old = min(old, retainedRoom)
      fresh = min(fresh, retainedRoom - old)
      guard fresh + old > 0, reserve(fresh + old) else { return 0 }
    }
    transaction.begin()
    var unlinked = 0
    for index in 0..<old {
      let counter = retained.head + UInt64(index)
      unlinked += reconsider(retained.word(counter, RetainedRing.entry), stamp: retained.stamp(counter))
    }
    for index in 0..<fresh { unlinked += consider(superseded.head + UInt64(index)) }
    journal.save(JournalLayout.supersededHeadAfter, superseded.head + UInt64(fresh))
    journal.save(JournalLayout.retainedHeadAfter, retained.head + UInt64(old))
    // What a pending reader needs may go once that reader has moved; what a snapshot needs waits for the snapshot.
    // ORDER retained-commit. UnlinkPass.retainedToReconsider, of a later pass. Before the commit: a writer that dies
    // after it would leave entries retained that no pass looks at again while the snapshots stay the same.
    if retainedForPending {
      ctl.storeRelaxed(ControlLayout.retainedSignature, scan.needed.signatureWithPending)
      crashFence()
    }
    transaction.commit()
    return unlinked
  }

  /// How many records of *retained* this pass looks at again: those from before the snapshots changed, or the pending reader
  /// moved for which something was retained.
  private func retainedToReconsider() -> Int {
    let signature = scan.needed.signature
    let last = ctl.loadRelaxed(ControlLayout.retainedSignature)
    if last != signature, last != scan.needed.signatureWithPending {
      // ORDER due-signature. UnlinkPass.retainedToReconsider, after a death here: a later pass must not find the
      // signature without what it makes due.
      ctl.storeRelaxed(ControlLayout.retainedRescanEnd, retained.tail)
      crashFence()
      ctl.storeRelaxed(ControlLayout.retainedSignature, signature)
    }
    let rescanEnd = ctl.loadRelaxed(ControlLayout.retainedRescanEnd)
    return rescanEnd > retained.head ? min(Int(rescanEnd - retained.head), Self.batch) : 0
  }

  /// How many records *retained* takes as it is.
  private var retainedRoom: Int { max(0, Int(truncatingIfNeeded: retained.mask) - retained.count - 1) }

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

  /// A record of *superseded*.
  private mutating func consider(_ counter: UInt64) -> Int {
    let newer = superseded.word(counter, SupersededRing.newer)
    state.work.versionsScanned &+= 1
    let block = superseded.block(counter)
    let stamp = superseded.stamp(counter)
    if stamp == SupersededRing.unsettled {
      return reconsider(block, stamp: state.versionNamed(by: counter), isTombstone: true, recordedAt: counter)
    }
    if stamp <= state.chainsCutAt { return retireCutOff(block) }
    if SupersededRing.isTombstone(newer) {
      return reconsider(block, stamp: stamp, isTombstone: false, recordedAt: counter)
    }
    return unlinkOrRetain(block, stamp: stamp, isTombstone: false, newer: Int(newer))
  }

  /// A record of *retained*.
  private mutating func reconsider(_ record: UInt64, stamp: UInt64) -> Int {
    state.work.versionsScanned &+= 1
    let block = state.block(ofEntry: Int(record & ~1))
    let isTombstone = record & 1 != 0
    if !isTombstone, stamp <= state.chainsCutAt { return retireCutOff(block) }
    return reconsider(block, stamp: stamp, isTombstone: isTombstone)
  }

  /// A tombstone, or what was retained.
  /// - Parameter counter: of its record in *superseded*, if that is where it was found.
  private mutating func reconsider(
    _ block: BlockRef, stamp: UInt64, isTombstone: Bool, recordedAt counter: UInt64? = nil
  ) -> Int {
    switch state.neighbour(of: block, recordedAt: counter) {
    case .word(let location): return unlinkOrRetainHead(block, stamp: stamp, location)
    case .newer(let newer): return unlinkOrRetain(block, stamp: stamp, isTombstone: isTombstone, newer: newer)
    case .none: return retireCutOff(block)
    }
  }

  /// No reader follows what leads to it: there is nothing to unlink.
  @inline(__always)
  private func retireCutOff(_ block: BlockRef) -> Int {
    transaction.retire(block, garbage: true)
    return 1
  }

  private mutating func unlinkOrRetain(_ block: BlockRef, stamp: UInt64, isTombstone: Bool, newer: Int) -> Int {
    let x = block.offset
    let version = data.loadRelaxed(x + Entry.version)
    switch scan.needed.need(of: version, newer: data.loadRelaxed(newer + Entry.version)) {
    case .none:
      unlink(block, after: newer)
      return 1
    case .pending:
      retainedForPending = true
    case .snapshot:
      break
    }
    journal.append(.retain, offset: x, count: isTombstone ? 1 : 0, value: stamp)
    return 0
  }

  /// PAIR chain-prev. Other end: Lookup.visible. Release: the chain's rest must be visible to a reader that now comes
  /// to it by this word.
  ///
  /// If x is at or below the cut, 0 is stored and not x's `prev`, which must not be followed any more: `newer` may be
  /// above the cut, and then its `prev` is followed.
  private func unlink(_ block: BlockRef, after newer: Int) {
    let x = block.offset
    let isCut = data.loadRelaxed(x + Entry.version) <= state.chainsCutAt
    journal.append(.fill, offset: newer + Entry.prev, count: 1, value: UInt64(x))
    data.storeRelease(newer + Entry.prev, isCut ? 0 : data.loadRelaxed(x + Entry.prev))
    transaction.retire(block, garbage: true)
  }

  /// A tombstone at the head of its chain goes when nothing that a reader follows hangs behind it: the key is absent at
  /// every snapshot then, with the tombstone and without it.
  private func unlinkOrRetainHead(_ block: BlockRef, stamp: UInt64, _ location: Location) -> Int {
    let x = block.offset
    guard data.loadRelaxed(x &+ Entry.prev) == 0 || data.loadRelaxed(x &+ Entry.version) <= state.chainsCutAt else {
      journal.append(.retain, offset: x, count: 1, value: stamp)
      return 0
    }
    journal.append(.fill, offset: location.place, count: 1, value: location.word)
    data.storeRelease(location.place, BucketWord.deleted)
    transaction.retire(block, garbage: true)
    return 1
  }
}

import CShims

/// Everything that changes a table, for the owner of its writer lock.
///
/// One object a process and table; its methods run under W only, which is what makes it `Sendable`. What a method
/// does to shared memory follows "Transactions" in DESIGN.md store by store: the order of stores *is* the
/// algorithm, since a crash may come between any two.
final class Writer: @unchecked Sendable {
  // Sendable because every method requires W.
  let data: Memory
  let ctl: Memory
  let geometry: Geometry
  let backing: Backing
  let variant: Variant
  let hashSeed: UInt64
  let journal: Journal
  let limbo: Ring
  let superseded: Ring
  let retained: Ring
  let allocator: Allocator
  let log: ChangeLog
  let lookup: Lookup
  let work = WorkCounters()

  /// The version that the transaction in flight will commit as.
  var version: UInt64 = 0
  /// Keys added less keys removed by the transaction in flight.
  var keyDelta = 0
  var inTransaction = false
  /// Limbo's tail and bytes at the last attempt to free from it.
  var triedLimboTail: UInt64 = 0
  var triedLimboBytes: UInt64 = 0
  /// Did the gc pass in progress keep anything for a reader that had not settled on a snapshot?
  var keptForPending = false

  init(data: Memory, ctl: Memory, geometry: Geometry, backing: Backing, variant: Variant, hashSeed: UInt64) {
    self.data = data
    self.ctl = ctl
    self.geometry = geometry
    self.backing = backing
    self.variant = variant
    self.hashSeed = hashSeed
    journal = Journal(ctl: ctl, region: geometry.journalOffset, regionBytes: geometry.journalBytes)
    limbo = Ring(
      ctl: ctl, header: ControlLayout.limbo, region: geometry.limboOffset, recordBytes: LimboRing.recordBytes,
      maximumRecords: geometry.limboRecords)
    superseded = Ring(
      ctl: ctl, header: ControlLayout.superseded, region: geometry.supersededOffset, recordBytes: 8,
      maximumRecords: geometry.supersededRecords)
    retained = Ring(
      ctl: ctl, header: ControlLayout.retained, region: geometry.retainedOffset, recordBytes: 8,
      maximumRecords: geometry.supersededRecords)
    allocator = Allocator(ctl: ctl, geometry: geometry, backing: backing, data: data, work: work)
    log = ChangeLog(data: data, byteCount: geometry.logBytes)
    lookup = Lookup(data: data)
  }

  var committed: UInt64 { data.loadRelaxed(DataLayout.committed) }

  /// Number of keys as of the newest committed version.
  var keyCount: Int { Int(clamping: data.loadRelaxed(Self.keyCountWord(committed))) }

  static func keyCountWord(_ version: UInt64) -> Int {
    DataLayout.keyCounts + Int(version % UInt64(DataLayout.keyCountSlots)) * 8
  }

  // MARK: - Begin, commit, abort

  /// Opens a transaction. The journal is empty and `wseq` even: recovery saw to it.
  func begin() {
    version = committed + 1
    keyDelta = 0
    inTransaction = true
    journal.setVersion(version)
    journal.save(JournalLayout.limboTail, limbo.tail)
    journal.save(JournalLayout.limboBytes, limbo.bytesPushed)
    journal.save(JournalLayout.supersededTail, superseded.tail)
    journal.save(JournalLayout.supersededHeadAfter, superseded.head)
    journal.save(JournalLayout.retainedTail, retained.tail)
    journal.save(JournalLayout.retainedHeadAfter, retained.head)
    journal.save(JournalLayout.garbageBytes, ctl.loadRelaxed(ControlLayout.garbageBytes))
    journal.save(JournalLayout.logEndPosition, log.endPosition)
    journal.save(JournalLayout.logEndOrdinal, log.endOrdinal)
    // ORDER begin-count. Recovery: no record may count before the positions it is undone to are saved.
    crashFence()
    bumpSequence()
  }

  /// Makes the transaction's changes visible all at once, then retires what it superseded.
  func commit() {
    // ORDER commit-retire-empty. Recovery knows by the full journal that there is still to retire.
    publishVersion(keyCount: keyCount + keyDelta)
    retire()
    journal.clear()
    bumpSequence()
    inTransaction = false
  }

  /// Undoes the transaction and leaves an empty version in its place.
  func abort() {
    // ORDER undo-empty-tick. I4.
    undo()
    journal.clear()
    publishVersion(keyCount: keyCount)
    bumpSequence()
    inTransaction = false
  }

  /// The linearization point and crash-atomic point of every change.
  ///
  /// PAIR pend-committed. Other end: ReadSection.announce. Release: whoever sees this version sees every store of
  /// the transaction (I1, I4).
  func publishVersion(keyCount: Int) {
    let next = committed + 1
    data.storeRelaxed(Self.keyCountWord(next), UInt64(keyCount))
    data.storeRelease(DataLayout.committed, next)
  }

  /// PAIR wseq-data. Other end: the rwlock variant's observers and readers, and recovery. Release on both edges, with a
  /// release fence after the odd one: an observer that reads any store of the transaction must find wseq changed.
  func bumpSequence() {
    data.storeRelease(DataLayout.wseq, data.loadRelaxed(DataLayout.wseq) + 1)
    shm_fence_release()
  }

  // MARK: - Blocks

  /// A block for this transaction: in the journal before its bits are set (I3, I6).
  func allocate(byteCount: Int, tombstone: Bool = false) throws(EngineError) -> BlockRef {
    let block = try findBlock(code: SizeClasses.code(byteCount: byteCount), tombstone)
    journal.append(tombstone ? .allocateTombstone : .allocate, value: block.raw)
    allocator.mark(block)
    return block
  }

  private func findBlock(code: Int, _ tombstone: Bool) throws(EngineError) -> BlockRef {
    if let block = allocator.findInRecentSlab(code) { return block }
    do {
      return try allocator.find(code: code, fromReserve: tombstone)
    } catch {
      guard case .full = error, releaseLimbo() > 0 else { throw error }
      return try allocator.find(code: code, fromReserve: tombstone)
    }
  }

  /// Hands a block back at commit, by way of limbo (I3). The store that unlinks it comes before or after: neither
  /// counts until the commit.
  func retire(_ block: BlockRef, garbage: Bool = false) {
    journal.append(.retire, count: garbage ? 1 : 0, value: block.raw)
  }

  @inline(__always)
  func block(ofEntry entry: Int) -> BlockRef {
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    return BlockRef(offset: entry, code: SizeClasses.code(byteCount: meta.byteCount))
  }

  /// Room for `records` more records in the journal and in every ring they may lead to (I5).
  @inline(__always)
  func reserve(_ records: Int) throws(EngineError) {
    try journal.reserve(records, backing)
    let pending = journal.count &+ records
    try limbo.reserve(pending, backing)
    try superseded.reserve(pending &* 2, backing)
  }
}

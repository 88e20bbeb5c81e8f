import CShims

/// What the owner of the writer lock W works on: the table's memory, its journal and rings, and the transaction in flight.
///
/// One object a process and table. The types that work on it do one thing each, and are structs of this one reference: making one costs nothing.
///
/// What they do to shared memory follows DESIGN.md store by store: the order of the stores *is* the algorithm, since a
/// writer may die between any two of them.
final class WriterState: @unchecked Sendable {
  // Sendable because only the owner of the writer lock changes it.
  let data: MappedMemory
  let ctl: MappedMemory
  let geometry: Geometry
  let backing: BackingPages
  let variant: Variant
  let hashSeed: UInt64
  let allocator: Allocator
  private let journalRegion: Int
  private let limboRegion: Int
  private let supersededRegion: Int
  private let retainedRegion: Int
  private let logBytes: Int
  /// ``Collector/bytesDue(_:)`` of this table, for commits to compare with.
  let reclaimBytesDue: UInt64
  let work = WorkCounters()

  /// The version that the transaction in flight will commit as.
  var version: UInt64 = 0
  /// The version of the transaction in flight while others may share it; else 0.
  var sharedVersion: UInt64 = 0
  /// Keys added less keys removed by the transaction in flight.
  var keyDelta = 0
  private(set) var inTransaction = false
  /// What the transaction in flight superseded, as far as ``keyRecords`` says.
  var supersededTail = SupersededTail()
  /// How many of the journal's records are of keys, with what they superseded written behind ``supersededTail``.
  var keyRecords = 0
  /// ``keyRecords`` of a transaction whose commit goes by the journal. It stays negative whatever is added, so it never equals the journal's count.
  static let noKeyRecords = Int.min / 2
  /// A mask for an entry's `prev`: 0 in the rwlock variant, where a key has one entry and no `prev` leads anywhere.
  let linkMask: Int
  /// ``keyRecords`` of a transaction that has done nothing: in the rwlock variant each commit goes by the journal.
  let keyRecordsAtFirst: Int
  /// The published size when the transaction in flight first found no block in a recent slab: the table may have grown
  /// since. 0 if each block came from one.
  var sizeBeforeGrowth = 0
  /// How many records the transaction in flight may have without asking for room.
  var recordsWithRoom = 0
  /// Where the reserve of the table began when ``recordsWithRoom`` was counted. It may begin further behind by now, never before that: if
  /// another process takes units away, it has a turn of W in between, and the shrinker of this one calls ``forgetRoom()``.
  var reserveStart = BlockRef(raw: 0)
  /// The number of the turn of W behind the one in which a transaction of this process last changed keys alone. If this
  /// process has W in that turn, nobody else has had it in between: the positions that the journal saved, and
  /// ``recordsWithRoom``, still hold.
  private var turnWithRoom = UInt64.max
  /// Limbo's tail and bytes at the last attempt to free from it.
  var triedLimboTail: UInt64 = 0
  var triedLimboBytes: UInt64 = 0
  /// This process's last pass found that a reader keeps superseded versions: see ``Collector/thresholdHeldBack``.
  var isHeldBack = false
  /// Up to which position of *superseded* there is no tombstone left to settle, as far as this process knows.
  var settledUpTo: UInt64 = 0
  /// The size code of the block that was last sought in vain: the next barrier makes room for it. 0, the least, if what
  /// was short was the journal or a ring.
  var shortCode = 0
  /// How many bytes have to be reclaimed for the operation that was last short of room; `.max` if that would be of no use to it.
  var missedBytes = 0
  /// Where the ``Evictor`` stopped last for a reader.
  var eviction = EvictionProgress()
  /// Where the next ``Compactor`` begins, in a table that is too large for one.
  var nextUnitToCompact = 0
  /// Where the next ``Compactor`` begins that makes room for what a ``Shrinker`` moves.
  var nextUnitToMoveTo = 0
  /// The hash's prefix, as high bits, at which the next ``Merger`` begins.
  var nextPrefixToMerge: UInt64 = 0

  init(
    data: MappedMemory, ctl: MappedMemory, geometry: Geometry, backing: BackingPages, variant: Variant, hashSeed: UInt64
  ) {
    self.data = data
    self.ctl = ctl
    self.geometry = geometry
    self.backing = backing
    self.variant = variant
    self.hashSeed = hashSeed
    linkMask = variant == .rcu ? -1 : 0
    keyRecordsAtFirst = variant == .rcu ? 0 : Self.noKeyRecords
    journalRegion = geometry.journalOffset
    limboRegion = geometry.limboOffset
    supersededRegion = geometry.supersededOffset
    retainedRegion = geometry.retainedOffset
    logBytes = geometry.logBytes
    reclaimBytesDue = Collector.bytesDue(geometry)
    allocator = Allocator(ctl: ctl, geometry: geometry, backing: backing, data: data, work: work)
  }

  // MARK: - Parts

  // Made where they are used, and not stored: the compiler loads once what several of them have in common, and makes
  // constant offsets part of the instructions.

  var lookup: Lookup {
    @inline(__always) get { Lookup(data: data) }
  }
  var log: ChangeLog {
    @inline(__always) get { ChangeLog(data: data, byteCount: logBytes) }
  }
  var journal: Journal {
    @inline(__always) get { Journal(ctl: ctl, region: journalRegion, regionBytes: geometry.journalBytes) }
  }
  var limbo: Ring {
    @inline(__always) get {
      Ring(
        ctl: ctl, header: ControlLayout.limbo, region: limboRegion, recordBytes: LimboRing.recordBytes,
        maximumRecords: geometry.limboRecords)
    }
  }
  var superseded: Ring {
    @inline(__always) get {
      Ring(
        ctl: ctl, header: ControlLayout.superseded, region: supersededRegion, recordBytes: SupersededRing.recordBytes,
        maximumRecords: geometry.supersededRecords)
    }
  }
  var retained: Ring {
    @inline(__always) get {
      Ring(
        ctl: ctl, header: ControlLayout.retained, region: retainedRegion, recordBytes: RetainedRing.recordBytes,
        maximumRecords: geometry.supersededRecords)
    }
  }

  var slots: Slots { Slots(ctl: ctl, count: geometry.slotCount) }

  // MARK: - Room

  /// Was this process the owner of W in the last turn too, and did its transaction then change keys alone? Then the
  /// journal still holds the positions of the rings, but for the tail of *superseded*. Where a ``Recycler`` has moved
  /// the head of *superseded* since, it has saved that too.
  @inline(__always)
  var hasRoomFromLastTurn: Bool {
    turnWithRoom == ctl.loadRelaxed(ControlLayout.turns) && recordsWithRoom >= Self.leastRoom
  }

  /// Journal records: where the last turn left room for fewer, the next transaction saves the rings' positions anew.
  static let leastRoom = 64

  /// The least of the rings' masks: one less than the records that the smallest ring holds.
  var leastRingMask: UInt64 { min(limbo.mask, superseded.mask, retained.mask) }

  /// Notes that in this turn of W there was one transaction of so many records, of keys alone. Each of them has pushed
  /// at most one record onto a ring.
  @inline(__always)
  func noteRoom(after records: Int) {
    recordsWithRoom &-= records
    turnWithRoom = ctl.loadRelaxed(ControlLayout.turns) &+ 1
  }

  /// Something else has moved the rings in this turn: the next transaction saves their positions anew.
  func forgetRoom() { recordsWithRoom = 0 }

  // MARK: - The transaction in flight

  @inline(__always)
  func beginTransaction() { inTransaction = true }

  /// Called when a transaction ends, and by an owner of W that does other work before it begins a transaction. A thread of this process may have
  /// died inside a barrier, and another process may have undone that barrier. Nothing in the table tells this process so. If it still believed in
  /// the old transaction, it would publish the old version again, and later commits would be lost.
  @inline(__always)
  func endTransaction() { inTransaction = false }

  // MARK: - Versions

  var committed: UInt64 { data.loadRelaxed(DataLayout.committed) }

  /// Number of keys as of the newest committed version.
  var keyCount: Int { Int(clamping: data.loadRelaxed(Self.keyCountWord(committed))) }

  static func keyCountWord(_ version: UInt64) -> Int {
    DataLayout.keyCounts + Int(version % UInt64(DataLayout.keyCountSlots)) * 8
  }

  /// PAIR wseq-data. Other end: ObserverLookup.isStillValid, RWReaderGate.isWriting, Recoverer.recover. Release on both edges, with a
  /// release fence after the odd one: an observer that reads any store of the transaction must find wseq changed.
  func bumpSequence() {
    data.storeRelease(DataLayout.wseq, data.loadRelaxed(DataLayout.wseq) &+ 1)
    shm_fence_release()
  }

  /// PAIR reclaimed-unlink. Other end: Segment.isUnreclaimed. `reclaimed` must be visible before the first unlink or
  /// reuse: an observer at an older snapshot that reads what we change then finds it raised.
  func raiseReclaimed(_ version: UInt64) {
    if data.loadRelaxed(DataLayout.reclaimed) < version { data.storeRelaxed(DataLayout.reclaimed, version) }
    shm_fence_release()
  }

  /// `prev` of an entry of this version or an older one is not to be followed by those who are no readers: ``InPlacePass``
  /// may have freed what it named.
  var chainsCutAt: UInt64 { ctl.loadRelaxed(ControlLayout.chainsCutAt) }

  /// No reader, now or later, comes to a version that was superseded by this one or an older one: ``Recycler``.
  @inline(__always)
  var recyclableUpTo: UInt64 { ctl.loadRelaxed(ControlLayout.recyclableUpTo) }

  // MARK: - Entries

  /// Where something may lie, in the units that there are now.
  var blockPlaces: BlockPlaces { BlockPlaces(geometry: geometry, end: geometry.unitOffset(allocator.unitCount)) }

  @inline(__always)
  func block(ofEntry entry: Int) -> BlockRef {
    block(ofEntry: entry, EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta)))
  }

  /// The size of the block of an entry whose key has so many bytes.
  @inline(__always)
  func blockSize(ofEntry entry: Int, keyLength: Int) -> BlockSize {
    let meta = EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta))
    guard _fastPath(meta.isCompact) else { return BlockSize(code: code(ofUncompact: entry, meta)) }
    return BlockSize(holding: EntryMeta.compactByteCount(keyLength, meta.valueLength))
  }

  @inline(__always)
  func block(ofEntry entry: Int, _ meta: EntryMeta) -> BlockRef {
    BlockRef(offset: entry, code: code(ofEntry: entry, meta))
  }

  /// The size code of an entry's block.
  @inline(__always)
  func code(ofEntry entry: Int, _ meta: EntryMeta) -> Int {
    guard _fastPath(meta.isCompact) else { return code(ofUncompact: entry, meta) }
    return SizeClasses.code(byteCount: EntryMeta.compactByteCount(meta.keyLength, meta.valueLength))
  }

  @inline(never)
  private func code(ofUncompact entry: Int, _ meta: EntryMeta) -> Int {
    guard _slowPath(meta.hasSlack) else { return SizeClasses.code(byteCount: meta.byteCount) }
    // A damaged one's block counts as of the size that the entry needs.
    return blockPlaces.code(ofEntry: entry, meta, data) ?? SizeClasses.code(byteCount: meta.byteCount)
  }

  @inline(__always)
  func isTombstone(_ entry: Int) -> Bool {
    entry != 0 && EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta)).isTombstone
  }

  func hashOfEntry(_ entry: Int) -> UInt64 {
    let meta = EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta))
    return hashOfEntry(entry, meta)
  }

  @inline(__always)
  func hashOfEntry(_ entry: Int, _ meta: EntryMeta) -> UInt64 {
    unsafe shm_hash(data.pointer(entry + meta.keyOffset), meta.keyLength, hashSeed)
  }
}

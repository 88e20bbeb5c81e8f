import CShims

/// The undo journal: what a transaction is about to do, written before it is done.
///
/// A record becomes part of the journal by the store to `count`, and its effect comes after that store. So a crash
/// leaves every effect recorded, and at most one record, or the pair of one key's change, whose effect has not
/// happened. Undo does no harm there: it stores back a word that was not changed, and sends a block to limbo that
/// nothing leads to.
struct Journal {
  let ctl: MappedMemory
  let region: Int
  let regionBytes: Int

  enum Kind: UInt64, CaseIterable {
    case allocate = 1
    case allocateTombstone = 2
    case put = 3
    case fill = 4
    case retire = 5
    case retain = 6
    /// Was rolled back: nothing is to be done for it, whatever becomes of the transaction.
    case void = 7
    /// An allocation that was rolled back: to limbo, whatever becomes of the transaction.
    case discard = 8
  }

  /// `struct shm_journal_record` in `shm_format.h`.
  struct Record {
    /// Kind, count and offset.
    fileprivate let head: UInt64
    /// What the kind says: a block, a word's value from before, or a stamp.
    let value: UInt64
    var kind: Kind? { Kind(rawValue: head >> Journal.kindShift) }
    var count: Int { Int((head >> Journal.countShift) & 0xffff) }
    var offset: Int { Int(head & ((1 << Journal.countShift) - 1)) << 3 }
    var block: BlockRef { BlockRef(raw: value) }
  }

  private static let kindShift = UInt64(SHM_JOURNAL_KIND_SHIFT)
  private static let countShift = UInt64(SHM_JOURNAL_COUNT_SHIFT)
  private static let value = shm_journal_record_value_offset
  private static let header = ControlLayout.journal
  /// The journal gets pages in multiples of so many bytes, and keeps the first so many for good.
  static let chunkBytes = 1 << 16

  var version: UInt64 { ctl.loadRelaxed(Self.header &+ JournalLayout.version) }
  var count: Int { Int(truncatingIfNeeded: ctl.loadRelaxed(Self.header &+ JournalLayout.count)) }
  func saved(_ field: Int) -> UInt64 { ctl.loadRelaxed(Self.header &+ field) }
  func save(_ field: Int, _ value: UInt64) { ctl.storeRelaxed(Self.header &+ field, value) }

  func setVersion(_ version: UInt64) { save(JournalLayout.version, version) }

  /// Empties the journal. An abort, and a recovery that undoes, does so before its tick (I4): else the next owner of W would take what was undone
  /// for a committed transaction.
  func clear() {
    crashFence()
    save(JournalLayout.count, 0)
    crashFence()
  }

  @inline(__always)
  subscript(index: Int) -> Record {
    let position = region &+ index &* JournalLayout.recordBytes
    return Record(head: ctl.loadRelaxed(position), value: ctl.loadRelaxed(position &+ Self.value))
  }

  /// Appends a record. The caller's effect follows; room was reserved.
  ///
  /// ORDER record-count-effect. Undo.run sees every record whose effect may have happened, and no half record.
  @inline(__always)
  func append(_ kind: Kind, offset: Int = 0, count: Int = 0, value: UInt64) {
    let index = self.count
    write(kind, offset: offset, count: count, value: value, at: index)
    crashFence()
    save(JournalLayout.count, UInt64(truncatingIfNeeded: index &+ 1))
    crashFence()
  }

  /// Appends the two records of a key's change: the block that is taken for it, and the word that is to lead there. Both count
  /// by one store; the effects of both follow.
  ///
  /// ORDER record-count-effect. Undo.run sees every record whose effect may have happened, and no half record.
  @inline(__always)
  func appendChange(_ allocation: Kind, of block: BlockRef, at wordOffset: Int, replacing old: UInt64) {
    let index = self.count
    write(allocation, value: block.raw, at: index)
    write(.put, offset: wordOffset, value: old, at: index &+ 1)
    crashFence()
    save(JournalLayout.count, UInt64(truncatingIfNeeded: index &+ 2))
    crashFence()
  }

  /// Behind the records that count.
  @inline(__always)
  private func write(_ kind: Kind, offset: Int = 0, count: Int = 0, value: UInt64, at index: Int) {
    let position = region &+ index &* JournalLayout.recordBytes
    let place = UInt64(truncatingIfNeeded: count) << Self.countShift | UInt64(truncatingIfNeeded: offset >> 3)
    ctl.storeRelaxed(position, kind.rawValue << Self.kindShift | place)
    ctl.storeRelaxed(position &+ Self.value, value)
  }

  /// Makes a record one of another kind, in one store: its second word stays.
  func convert(_ index: Int, to kind: Kind) {
    ctl.storeRelaxed(region &+ index &* JournalLayout.recordBytes, kind.rawValue << Self.kindShift)
  }

  /// Allocates pages for `extra` further records.
  /// - Throws: `full(.barrier)` when the journal is at its limit.
  @inline(__always)
  func reserve(_ extra: Int, _ backing: BackingPages) throws(EngineError) {
    let needed = (count &+ extra) &* JournalLayout.recordBytes
    if needed > Int(truncatingIfNeeded: ctl.loadRelaxed(ControlLayout.journalAllocated)) {
      try grow(to: needed, backing)
    }
  }

  /// How many records have pages.
  @inline(__always)
  var recordsWithPages: Int {
    Int(truncatingIfNeeded: ctl.loadRelaxed(ControlLayout.journalAllocated) / UInt64(JournalLayout.recordBytes))
  }

  private func grow(to needed: Int, _ backing: BackingPages) throws(EngineError) {
    guard needed <= regionBytes else { throw .full(.barrier) }
    let allocated = Int(ctl.loadRelaxed(ControlLayout.journalAllocated))
    let target = min(regionBytes, roundUp(max(needed, allocated * 2), to: Self.chunkBytes))
    try backing.allocateControl(offset: region + allocated, count: target - allocated)
    ctl.storeRelaxed(ControlLayout.journalAllocated, UInt64(target))
  }

  // MARK: - Shrinking

  /// Has the journal grown, and is it empty now?
  var isTooLarge: Bool { count == 0 && ctl.loadRelaxed(ControlLayout.journalAllocated) > UInt64(Self.chunkBytes) }

  /// Makes it as small as it was at first, if nothing is in it. The pages stay until ``spareRegion`` is given back.
  func shrink() {
    if isTooLarge { ctl.storeRelaxed(ControlLayout.journalAllocated, UInt64(Self.chunkBytes)) }
  }

  /// The part of its region that it does not use now, as offsets in *ctl*.
  var spareRegion: Range<Int> {
    region + Int(truncatingIfNeeded: ctl.loadRelaxed(ControlLayout.journalAllocated))..<region + regionBytes
  }
}

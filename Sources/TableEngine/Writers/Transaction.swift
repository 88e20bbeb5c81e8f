import CShims

/// The transaction in flight: all of it becomes visible at once, or none of it ever (G2).
///
/// For the owner of W. Every effect on shared memory follows its record in the journal, by which ``Undo`` takes it back
/// after an abort or a death.
struct Transaction {
  let state: WriterState

  private var data: MappedMemory { state.data }
  private var journal: Journal { state.journal }

  // MARK: - Begin, commit, abort

  /// Opens a transaction. The journal is empty and `wseq` even: ``Recoverer`` saw to it.
  @inline(__always)
  func begin() {
    state.version = state.committed &+ 1
    state.keyDelta = 0
    state.beginTransaction()
    journal.setVersion(state.version)
    let tail = state.superseded.tail
    journal.save(JournalLayout.supersededTail, tail)
    state.supersededTail = SupersededTail(at: tail)
    state.keyRecords = state.keyRecordsAtFirst
    if _slowPath(!state.hasRoomFromLastTurn) { saveOtherPositions() }
    journal.save(JournalLayout.garbageBytes, state.ctl.loadRelaxed(ControlLayout.garbageBytes))
    journal.save(JournalLayout.logEndPosition, state.log.endPosition)
    journal.save(JournalLayout.logEndOrdinal, state.log.endOrdinal)
    // ORDER begin-count. Recoverer.recover: no record may count before the positions it is undone to are saved.
    crashFence()
    state.bumpSequence()
  }

  /// Saves the positions that the journal does not hold yet. It holds them if this process was the last owner of W and
  /// its last transaction changed keys alone.
  @inline(never)
  private func saveOtherPositions() {
    let (limbo, superseded, retained) = (state.limbo, state.superseded, state.retained)
    let (limboTail, supersededHead, retainedTail) = (limbo.tail, superseded.head, retained.tail)
    journal.save(JournalLayout.limboTail, limboTail)
    journal.save(JournalLayout.limboBytes, limbo.bytesPushed)
    journal.save(JournalLayout.supersededHeadAfter, supersededHead)
    journal.save(JournalLayout.retainedTail, retainedTail)
    journal.save(JournalLayout.retainedHeadAfter, retained.head)
    countRoom(
      limbo: limboTail &- limbo.head, superseded: superseded.tail &- supersededHead,
      retained: retainedTail &- retained.head)
  }

  /// Makes the transaction's changes visible all at once, then retires what it superseded.
  @inline(__always)
  func commit() {
    // ORDER commit-retire-empty. Recoverer.recover finds records in the journal, and knows by them that something is still to be retired: so the
    // journal is emptied last.
    let keyCount = data.loadRelaxed(WriterState.keyCountWord(state.version &- 1))
    CommitPoint(state: state).publish(
      state.version, keyCount: keyCount &+ UInt64(bitPattern: Int64(state.keyDelta)))
    let count = journal.count
    if _fastPath(count == state.keyRecords) {
      publishSuperseded()
      state.noteRoom(after: count)
    } else {
      retireByJournal()
    }
    journal.clear()
    state.bumpSequence()
    state.endTransaction()
  }

  @inline(never)
  private func retireByJournal() {
    Retirement(state: state).run()
    state.forgetRoom()
  }

  /// The end of a transaction that changed nothing but keys. The records of what it superseded are written already:
  /// only the tail moves over them.
  @inline(__always)
  private func publishSuperseded() {
    crashFence()
    state.supersededTail.publish(state.superseded)
    let garbage = state.ctl.loadRelaxed(ControlLayout.garbageBytes)
    state.ctl.storeRelaxed(ControlLayout.garbageBytes, garbage &+ state.supersededTail.bytes)
  }

  /// Undoes the transaction and leaves an empty version in its place.
  func abort() {
    // ORDER undo-empty-tick. Recoverer.recover: were `committed` moved first, a successor would take the transaction
    // for one that had committed (I4).
    Undo(state: state).run()
    state.forgetRoom()
    journal.clear()
    CommitPoint(state: state).publishTick()
    state.bumpSequence()
    state.endTransaction()
  }

  // MARK: - Changes

  /// Stores a value under a key.
  ///
  /// - Throws: `full`, with nothing of this operation changed but perhaps a split that made room.
  @inline(__always)
  func put(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes
  ) throws(EngineError) {
    _ = try unsafe put(key, hash: hash, value, attributes) { _ in true }
  }

  /// As ``put(_:hash:_:_:)``, if it is wanted.
  ///
  /// - Parameter isWanted: asked about the key's entry, expired or a tombstone too; 0 if there is none.
  /// - Returns: whether it was.
  @inline(__always)
  func put(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    if isWanted: (Int) -> Bool
  ) throws(EngineError) -> Bool {
    let meta = EntryMeta(keyLength: key.count, valueLength: value.count, attributes)
    try reserve(8)
    let location = unsafe try locateWithRoom(key, hash: hash)
    let previous = BucketWord.offset(location.word)
    guard isWanted(previous) else { return false }
    let byteCount = attributes.isCompact ? EntryMeta.compactByteCount(key.count, value.count) : meta.byteCount
    let block = try take(code: SizeClasses.code(byteCount: byteCount), for: location)
    unsafe data.storeEntry(
      block.offset, meta, attributes, key, value, version: state.version, previous: previous & state.linkMask)
    publish(block.offset, hash: hash, at: location)
    if !supersede(previous, by: block, meta) { state.keyDelta &+= 1 }
    unsafe state.log.append(.set, key: key, version: state.version)
    return true
  }

  /// Stores a value of so many bytes in place of one that was located. What is stored beside it stays: only version and length change.
  ///
  /// - Parameter write: puts the bytes where they are to lie, where nobody sees them yet. May look at the old ones.
  @inline(__always)
  func replace(
    _ old: LocatedEntry, valueLength: Int, _ write: (UnsafeMutableRawPointer) -> Void
  ) throws(EngineError) {
    let meta = old.entry.meta.with(valueLength: valueLength)
    let valueOffset = meta.valueOffset
    try reserve(8)
    let location = Location(place: old.place, word: data.loadRelaxed(old.place))
    let previous = BucketWord.offset(location.word)
    let block = try take(code: SizeClasses.code(largeByteCount: valueOffset &+ valueLength), for: location)
    unsafe data.storeEntry(
      block.offset, meta, old.entry.head(before: valueOffset), version: state.version,
      previous: previous & state.linkMask)
    unsafe write(data.pointer(block.offset &+ valueOffset))
    publish(block.offset, at: location.place, inPlaceOf: location.word)
    let oldMeta = old.entry.meta
    let code =
      meta == oldMeta
      ? block.code
      : _fastPath(!oldMeta.hasSlack)
        ? SizeClasses.code(largeByteCount: valueOffset &+ oldMeta.valueLength) : state.code(ofEntry: previous, oldMeta)
    push(
      BlockRef(offset: previous, code: code), named: UInt64(truncatingIfNeeded: block.offset), stamp: state.version)
    unsafe state.log.append(.set, key: old.entry.key, version: state.version)
  }

  /// Removes a key.
  /// - Returns: the entry that was removed, expired or not; 0 if there was none. It stays until the transaction ends.
  @inline(__always)
  func remove(_ key: UnsafeRawBufferPointer, hash: UInt64) throws(EngineError) -> Int {
    let location = unsafe state.lookup.locate(key.baseAddress!, key.count, hash: hash)
    let previous = BucketWord.offset(location.word)
    guard previous != 0 else { return 0 }
    let meta = EntryMeta(raw: data.loadRelaxed(previous &+ Entry.meta))
    guard !meta.isTombstone else { return 0 }
    try reserve(8)
    if _slowPath(state.variant == .rwlock) {
      clear(location.place, location.word)
    } else {
      let size = BlockSize(holding: EntryMeta.compactByteCount(key.count, 0))
      let tombstone = try takeForTombstone(code: size.code, location.place, location.word)
      let oldSize = state.blockSize(ofEntry: previous, keyLength: key.count)
      // The records do not count before the commit. They come first because what they are made of is in registers now.
      var superseded = state.supersededTail
      superseded.push(
        BlockRef(offset: previous, code: oldSize.code), and: tombstone, byteCount: oldSize.byteCount &+ size.byteCount,
        at: TombstoneHint(hash: hash, location), version: state.version, onto: state.superseded)
      state.supersededTail = superseded
      unsafe data.storeEntry(
        tombstone.offset, EntryMeta(keyLength: key.count, valueLength: 0, type: 0, tombstone: true), ValueAttributes(),
        key, UnsafeRawBufferPointer(start: nil, count: 0), version: state.version, previous: previous)
      publish(tombstone.offset, hash: hash, at: location)
    }
    state.keyDelta &-= 1
    unsafe state.log.append(.remove, key: key, version: state.version)
    return previous
  }

  /// In the rwlock variant a key that is removed leaves nothing behind.
  @inline(never)
  private func clear(_ place: Int, _ word: UInt64) {
    journal.append(.put, offset: place, value: word)
    data.storeRelease(place, BucketWord.deleted)
  }

  /// Where the key is or may go, after splitting its sub-table as often as that takes.
  @inline(__always)
  private func locateWithRoom(_ key: UnsafeRawBufferPointer, hash: UInt64) throws(EngineError) -> Location {
    let location = unsafe state.lookup.locate(key.baseAddress!, key.count, hash: hash)
    if _fastPath(location.place != 0) { return location }
    return try unsafe locateBySplitting(key, hash: hash)
  }

  /// Looks the key up once more, and does not take the location that `locateWithRoom` found: if that were passed on,
  /// every put would keep it in memory and not in registers.
  @inline(never)
  private func locateBySplitting(_ key: UnsafeRawBufferPointer, hash: UInt64) throws(EngineError) -> Location {
    while true {
      let location = unsafe state.lookup.locate(key.baseAddress!, key.count, hash: hash)
      if location.place != 0 { return location }
      try Splitter(transaction: self).makeRoom(hash: hash, location)
      try reserve(8)
    }
  }

  /// PAIR publish-entry. Other end: Lookup.match. Release: a reader that finds the offset must find the entry whole.
  @inline(__always)
  private func publish(_ entry: Int, hash: UInt64, at location: Location) {
    data.storeRelease(location.place, BucketWord.make(tag: BucketWord.tag(hash: hash), offset: entry))
  }

  /// PAIR publish-entry. Other end: Lookup.match. The same where another entry of the key is: its tag stays.
  @inline(__always)
  private func publish(_ entry: Int, at place: Int, inPlaceOf word: UInt64) {
    data.storeRelease(place, BucketWord.make(sameTagAs: word, offset: entry))
  }

  /// Records the entry that a new one replaces, for the commit to publish. A tombstone is left out: its own transaction
  /// recorded it.
  /// - Returns: whether it was a value.
  @inline(__always)
  private func supersede(_ previous: Int, by block: BlockRef, _ newMeta: EntryMeta) -> Bool {
    guard previous != 0 else { return false }
    let meta = EntryMeta(raw: data.loadRelaxed(previous &+ Entry.meta))
    guard !meta.isTombstone else { return false }
    let code = meta.isAsLarge(as: newMeta) ? block.code : state.code(ofEntry: previous, meta)
    push(
      BlockRef(offset: previous, code: code), named: UInt64(truncatingIfNeeded: block.offset), stamp: state.version)
    return true
  }

  /// In the rwlock variant nothing is superseded: ``Retirement`` sends it to limbo.
  @inline(__always)
  private func push(_ block: BlockRef, named newer: UInt64, stamp: UInt64) {
    guard state.variant == .rcu else { return }
    // Copied, changed and stored back: if it were changed where it lies, the runtime would check that access for
    // exclusivity.
    var superseded = state.supersededTail
    superseded.push(block, named: newer, stamp: stamp, onto: state.superseded)
    state.supersededTail = superseded
  }

  // MARK: - Blocks

  /// A block for a value of a key.
  @inline(__always)
  private func take(code: Int, for location: Location) throws(EngineError) -> BlockRef {
    if let find = Recycler(state: state).nextBlock(code: code) {
      return record(find, .allocate, location.place, location.word)
    }
    let block = try findBlock(code: code, for: .anything, replacing: BucketWord.offset(location.word))
    return record(block, .allocate, location.place, location.word)
  }

  /// A block for a tombstone.
  @inline(__always)
  private func takeForTombstone(code: Int, _ place: Int, _ word: UInt64) throws(EngineError) -> BlockRef {
    if let find = Recycler(state: state).nextBlockForTombstone(code: code) {
      return record(find, .allocateTombstone, place, word)
    }
    let block = try findBlock(code: code, for: .tombstone, replacing: BucketWord.offset(word))
    return record(block, .allocateTombstone, place, word)
  }

  /// Takes a block that was found in *superseded*. The journal names it, and the word that is to lead to it, before the
  /// ring's head moves past it (I3, I6).
  @inline(__always)
  private func record(_ find: Recycler.Find, _ kind: Journal.Kind, _ place: Int, _ word: UInt64) -> BlockRef {
    journal.appendChange(kind, of: find.block, at: place, replacing: word)
    Recycler(state: state).recycle(find)
    state.keyRecords &+= 2
    return find.block
  }

  /// Takes a free block. The journal names it, and the word that is to lead to it, before its bits are set (I3, I6).
  @inline(__always)
  private func record(_ block: BlockRef, _ kind: Journal.Kind, _ place: Int, _ word: UInt64) -> BlockRef {
    journal.appendChange(kind, of: block, at: place, replacing: word)
    state.allocator.mark(block)
    state.keyRecords &+= 2
    return block
  }

  /// A block for a part of the index: in the journal before its bits are set (I3, I6).
  func allocate(byteCount: Int) throws(EngineError) -> BlockRef {
    let block = try findBlock(code: SizeClasses.code(byteCount: byteCount), for: .anything, replacing: 0)
    journal.append(.allocate, value: block.raw)
    state.allocator.mark(block)
    return block
  }

  /// A free block; its bits are not set yet.
  /// - Parameter previous: the entry whose place it is for, or 0.
  @inline(never)
  private func findBlock(
    code: Int, for purpose: Allocator.Purpose, replacing previous: Int
  ) throws(EngineError) -> BlockRef {
    if let block = state.allocator.findInRecentSlab(code) { return block }
    if state.sizeBeforeGrowth == 0 {
      state.sizeBeforeGrowth = Int(clamping: data.loadRelaxed(DataLayout.publishedBytes))
    }
    while true {
      do throws(EngineError) {
        return try state.allocator.find(code: code, for: purpose)
      } catch {
        guard case .full = error else { throw error }
        if FreePass(state: state).runForRoom() > 0 { continue }
        state.shortCode = code
        state.missedBytes = SizeClasses.byteCount(code: code)
        guard purpose == .anything, previous != 0, code <= codeNeeded(byEntry: previous) else { throw error }
        return try findReserved(code: code)
      }
    }
  }

  /// The size code of the smallest block that an entry fits into; its own may be larger.
  private func codeNeeded(byEntry entry: Int) -> Int {
    SizeClasses.code(byteCount: EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta)).byteCount)
  }

  /// A block for a value that takes the place of one that is no smaller: what it replaces comes back, so the table does not
  /// get fuller by it. The next barrier moves it out of the reserve.
  @inline(never)
  private func findReserved(code: Int) throws(EngineError) -> BlockRef {
    do throws(EngineError) {
      let block = try state.allocator.find(code: code, for: .replacement)
      LimboBudget(state: state).wantRoom(for: code)
      return block
    } catch {
      LimboBudget(state: state).wantRoom(for: code, isReserveShort: true)
      throw error
    }
  }

  /// Hands a block back at commit, by way of limbo (I3). The store that unlinks it comes before or after: neither
  /// counts until the commit.
  /// - Parameter garbage: whether the block's bytes are counted in `garbageBytes`, as those of superseded entries and tombstones are: the
  ///   commit takes them off.
  func retire(_ block: BlockRef, garbage: Bool = false) {
    journal.append(.retire, count: garbage ? 1 : 0, value: block.raw)
  }

  // MARK: - Room

  /// Room for `records` more records in the journal and in every ring they may lead to (I5).
  @inline(__always)
  func reserve(_ records: Int) throws(EngineError) {
    if _slowPath(journal.count &+ records > state.recordsWithRoom) { try makeRoom(for: records) }
  }

  @inline(never)
  private func makeRoom(for records: Int) throws(EngineError) {
    // From here on the journal or a ring may be short, but no block: the next barrier is not to seek the size that an
    // earlier operation did not find.
    state.shortCode = 0
    state.missedBytes = .max
    try journal.reserve(records, state.backing)
    let pending = journal.count &+ records
    // If the rings are large enough for so many records, reclaiming even one byte may make room in them. Else nothing that is reclaimed helps, and no
    // reader is blamed.
    if UInt64(pending) &* 2 <= state.leastRingMask { state.missedBytes = 0 }
    // Reclaiming must never need memory that it cannot have: the rings to which a record of *superseded* may move have room
    // for it from the start.
    let superseded = state.superseded.count &+ pending &* 2
    try state.limbo.reserve(superseded &+ state.retained.count, state.backing)
    let mask = state.superseded.mask
    // What lies behind the tail does not move with the ring: the commit writes it again. That holds, too, if the ring grew and
    // a later ring could not.
    defer { if state.superseded.mask != mask { state.keyRecords = WriterState.noKeyRecords } }
    try state.superseded.reserve(pending &* 2, state.backing)
    try state.retained.reserve(superseded, state.backing)
    countRoom(
      limbo: UInt64(state.limbo.count), superseded: UInt64(state.superseded.count),
      retained: UInt64(state.retained.count))
  }

  /// Outside a transaction: is there room for the records of a write, or can there be?
  func canReserve() -> Bool {
    // What is known of the rings' room by then is not of positions that the journal has saved.
    defer { state.forgetRoom() }
    do { try makeRoom(for: WriterState.leastRoom) } catch { return false }
    return true
  }

  /// How many records the journal may have with the room that there is, if the rings hold so many, and where the reserve begins. While a
  /// transaction is open the rings get no fuller: a free pass inside it only takes from them.
  @inline(__always)
  private func countRoom(limbo: UInt64, superseded: UInt64, retained: UInt64) {
    let kept = Int64(truncatingIfNeeded: superseded &+ retained)
    let inLimbo = Int64(truncatingIfNeeded: state.limbo.mask &- limbo) &- kept
    let inSuperseded = Int64(truncatingIfNeeded: state.superseded.mask &- superseded)
    let inRetained = Int64(truncatingIfNeeded: state.retained.mask) &- kept
    let inRings = min(inLimbo, inSuperseded, inRetained) >> 1
    state.recordsWithRoom = min(Int(truncatingIfNeeded: inRings), journal.recordsWithPages)
    state.reserveStart = state.allocator.reserveStart
  }
}

import CShims

/// Moves what lies in a window elsewhere, so that the window becomes free as a whole (Copying as in evacuating collectors;
/// entries, sub-tables and nodes of the directory are found from the index, so nothing has to be scanned for pointers to them).
///
/// A moved entry is the same version of the same key in a better place: a copy, published by the store to its bucket word in a
/// transaction that commits as a tick. The old block goes to limbo with that tick's stamp. Proof sketch:
/// - Only the newest version of a key is moved, and only one that is at most as young as `chainsCutAt`: every reader, now and
///   later, takes it and looks no further, so the copy needs no `prev`. No record of *superseded* or *retained* has to be
///   changed: one whose stamp is that entry's version is cut off, and is freed without a look at its neighbours.
/// - A reader that found the old block announced itself before the tick; the free pass waits for it (I1).
/// - An observer at a snapshot older than the entry finds `reclaimed` raised, since no chain is cut above it, and starts over.
/// - What a key lock covers stays: its holder may read it where it lies until it gives the key lock back.
/// - After a death before the commit the words lead to the old blocks again, and the copies go to limbo: the journal's kinds
///   are those of every other change.
///
/// For the owner of W outside a transaction; in the rwlock variant with readers kept out. A process that is denied membarrier may move
/// entries too: the old blocks are reused only after a scan of the readers, which raises `reclaimed` first.
struct Evacuation {
  let state: WriterState
  let window: FrameWindow
  private var vacancies: Vacancies
  /// Moves since the transaction began.
  private var moves = 0
  private(set) var movedBytes = 0
  /// The size code of a block for which there was no room elsewhere.
  private(set) var missedCode: Int?
  /// A longer block stays: to move one is a single step.
  private let longestBlock: Int
  /// Whether an entry may be moved to a larger block than it needs, if no other is free.
  private let allowsSlack: Bool

  /// Moves that one transaction makes: bounds the room that it takes in the journal and in limbo.
  private static let batch = 256

  /// - Parameter longestBlock: of those that are moved, in bytes.
  init(
    _ state: WriterState, _ window: FrameWindow, units: Range<Int>, longestBlock: Int = .max, allowsSlack: Bool = false
  ) {
    self.state = state
    self.window = window
    self.longestBlock = longestBlock
    self.allowsSlack = allowsSlack
    vacancies = Vacancies(
      state.allocator, units: units, avoiding: window.superframes,
      // To free a superframe at the price of another gains nothing.
      sparesSuperframes: window.superframes.count == 1)
  }

  private var data: MappedMemory { state.data }
  private var allocator: Allocator { state.allocator }
  private var transaction: Transaction { Transaction(state: state) }

  /// Stops at the first thing that has to stay.
  /// - Returns: whether there was none.
  mutating func run() -> Bool {
    defer { commit() }
    for superframe in window.superframes where !empty(superframe) { return false }
    return true
  }

  /// Moves what can be moved, superframe after superframe, until it was at least so many bytes.
  mutating func moveAll(atMost bytes: Int = .max) { moveAll(outOf: window.superframes, atMost: bytes) }

  /// Moves what can be moved out of these superframes of the window, one after the other.
  mutating func moveAll(outOf superframes: some Sequence<Int>, atMost bytes: Int = .max) {
    defer { commit() }
    for superframe in superframes where movedBytes < bytes { _ = empty(superframe) }
  }

  private mutating func empty(_ superframe: Int) -> Bool {
    allocator.kind(superframe) == 0
      ? moveRuns(superframe)
      : moveBlocks(superframe / Geometry.superframesPerUnit, superframe % Geometry.superframesPerUnit)
  }

  /// Is every frame of the window free?
  var isDone: Bool { allocator.isFree(window) }

  private mutating func moveRuns(_ superframe: Int) -> Bool {
    for frame in window.frames.clamped(to: FrameWindow.frames(ofSuperframe: superframe))
    where !allocator.isFree(frame: frame) {
      guard let run = allocator.run(ofFrame: frame) else { return false }
      // Moved already, with an earlier one of its frames.
      if frame > max(allocator.frames(run).lowerBound, window.frames.lowerBound) { continue }
      guard move(run) else { return false }
    }
    return true
  }

  private mutating func moveBlocks(_ unit: Int, _ superframe: Int) -> Bool {
    let sizeClass = allocator.kind(unit, superframe) - 1
    guard (0..<SizeClasses.count).contains(sizeClass) else { return false }
    // The slab was made for a block that was not taken after all.
    if allocator.unmakeSlabIfEmpty(unit, superframe) { return true }
    let used = allocator.usedBits(unit, superframe)
    for index in 0..<SizeClasses.blocksPerSlab(sizeClass) where state.ctl.bit(index, at: used) {
      guard move(allocator.block(unit, superframe, index, sizeClass)) else { return false }
    }
    return true
  }

  /// - Returns: whether the block was moved, or the index does not name it: then nothing can be moved, and most likely
  ///   it will be free soon.
  private mutating func move(_ block: BlockRef) -> Bool {
    guard block.byteCount <= longestBlock else { return false }
    if let (location, hash) = location(ofEntry: block) { return moveEntry(block, location, hash: hash) }
    if let (word, hash) = directoryWord(ofSubTable: block) { return moveSubTable(block, word, hash: hash) }
    if let index = rootIndex(naming: block) { return move(block, ofRootWord: index) }
    return true
  }

  // MARK: - Entries

  /// Where the index names this block as a key's newest entry. The index decides: what lies in the block may be anything.
  private func location(ofEntry block: BlockRef) -> (Location, hash: UInt64)? {
    let meta = EntryMeta(raw: data.loadRelaxed(block.offset + Entry.meta))
    guard state.code(ofEntry: block.offset, meta) == block.code else { return nil }
    let hash = state.hashOfEntry(block.offset)
    let key = unsafe data.pointer(block.offset + meta.keyOffset)
    let location = unsafe state.lookup.locate(key, meta.keyLength, hash: hash)
    return BucketWord.offset(location.word) == block.offset ? (location, hash) : nil
  }

  private mutating func moveEntry(_ block: BlockRef, _ location: Location, hash: UInt64) -> Bool {
    let entry = block.offset
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    guard !meta.isTombstone, isBelowCut(entry), !isLocked(entry, meta), let copy = take(for: meta, now: block) else {
      return false
    }
    let hasSlack = copy.code != SizeClasses.code(byteCount: meta.byteCount)
    unsafe data.copy(data.pointer(entry), count: meta.byteCount, to: copy.offset)
    data.storeRelaxed(copy.offset + Entry.prev, 0)
    data.storeRelaxed(copy.offset + Entry.meta, meta.with(slack: hasSlack).raw)
    if hasSlack {
      data.storeRelaxed(copy.offset + EntrySlack.codeOffset(meta), UInt64(copy.code))
      state.work.entriesGivenSlack &+= 1
    }
    state.journal.append(.fill, offset: location.place, count: 1, value: location.word)
    // PAIR publish-entry. Other end: Lookup.match. Release: a reader that finds the offset must find the copy whole.
    data.storeRelease(
      location.place, BucketWord.make(tag: BucketWord.tag(hash: hash), offset: copy.offset))
    finish(block)
    return true
  }

  /// A block for the copy of an entry: of the size that it needs, else of the size that it has, else of any larger one if that is allowed.
  private mutating func take(for meta: EntryMeta, now block: BlockRef) -> BlockRef? {
    let missedBefore = missedCode
    if let copy = take(code: SizeClasses.code(byteCount: meta.byteCount)) { return copy }
    let missed = missedCode
    var others = meta.hasSlack ? [block.code] : []
    if allowsSlack { others += EntrySlack.codes(for: meta) }
    for other in others {
      guard let copy = take(code: other) else { continue }
      missedCode = missedBefore
      return copy
    }
    missedCode = missed
    return nil
  }

  /// Does no reader, now or later, look behind this entry?
  private func isBelowCut(_ entry: Int) -> Bool {
    state.variant == .rwlock || data.loadRelaxed(entry + Entry.version) <= state.chainsCutAt
  }

  private func isLocked(_ entry: Int, _ meta: EntryMeta) -> Bool {
    let keyLocks = KeyLocks(ctl: state.ctl, slots: state.slots)
    guard keyLocks.mayBeAny else { return false }
    let key = unsafe UnsafeRawBufferPointer(start: data.pointer(entry + meta.keyOffset), count: meta.keyLength)
    return unsafe keyLocks.isLocked(key, seed: state.hashSeed, except: -1)
  }

  // MARK: - Sub-tables and nodes

  /// The directory word that names this block as a sub-table. Found by a key that lies in it: one without keys below a node stays where it is.
  private func directoryWord(ofSubTable block: BlockRef) -> (DirectoryWord, hash: UInt64)? {
    guard block.code == SizeClasses.code(byteCount: SubTable.byteCount) else { return nil }
    for position in stride(from: block.offset, to: block.offset + SubTable.byteCount, by: 8) {
      let word = data.loadRelaxed(position)
      guard BucketWord.namesEntry(word) else { continue }
      guard let hash = hash(ofEntryAt: BucketWord.offset(word)) else { return nil }
      let directory = state.lookup.directoryWord(hash: hash).word
      return directory.offset == block.offset && !directory.isDeep ? (directory, hash) : nil
    }
    return nil
  }

  /// The hash of the key that lies there, if something like an entry does.
  private func hash(ofEntryAt offset: Int) -> UInt64? {
    let places = state.blockPlaces
    guard places.mayHoldEntry(at: offset) else { return nil }
    let meta = EntryMeta(raw: data.loadRelaxed(offset + Entry.meta))
    return offset + meta.valueOffset <= places.end ? state.hashOfEntry(offset) : nil
  }

  private mutating func moveSubTable(_ block: BlockRef, _ word: DirectoryWord, hash: UInt64) -> Bool {
    guard let copy = take(code: block.code) else { return false }
    unsafe data.copy(data.pointer(block.offset), count: SubTable.byteCount, to: copy.offset)
    Splitter(transaction: transaction).replace(
      word, hash: hash, by: DirectoryWord(subTable: copy.offset, depth: word.bits))
    finish(block)
    return true
  }

  /// The first root word that names this block, if one does: as a node, or as a sub-table, which may have no keys.
  private func rootIndex(naming block: BlockRef) -> Int? {
    guard Self.isOfDirectory(block) else { return nil }
    return (0..<1 << DataLayout.rootBits).first { index in
      let word = rootWord(index)
      let byteCount = word.isNode ? word.nodeByteCount : SubTable.byteCount
      return word.offset == block.offset && SizeClasses.code(byteCount: byteCount) == block.code
    }
  }

  /// Whether a root word names blocks of this size. Most blocks that the index does not name as entries are of others, and to compare them with
  /// all root words would take as long as to move them.
  private static func isOfDirectory(_ block: BlockRef) -> Bool {
    let nodeBits = 1...SubTable.maximumDepth - DataLayout.rootBits
    return block.code == SizeClasses.code(byteCount: SubTable.byteCount)
      || nodeBits.contains { block.code == SizeClasses.code(byteCount: DirectoryWord.nodeByteCount(bits: $0)) }
  }

  private func rootWord(_ index: Int) -> DirectoryWord { DirectoryWord(data.loadRelaxed(DataLayout.rootWord(index))) }

  private mutating func move(_ block: BlockRef, ofRootWord index: Int) -> Bool {
    let word = rootWord(index)
    if !word.isNode { return moveSubTable(block, word, hash: UInt64(index) << UInt64(64 - DataLayout.rootBits)) }
    guard let copy = take(code: block.code) else { return false }
    Splitter(transaction: transaction).moveNode(ofRootWord: index, to: copy.offset)
    finish(block)
    return true
  }

  // MARK: - Transactions

  /// A block for a copy, in the journal of an open transaction; nil if there is no room for it or for its records.
  private mutating func take(code: Int) -> BlockRef? {
    if !state.inTransaction { transaction.begin() }
    do { try transaction.reserve(4) } catch { return nil }
    // Last, since it may make a slab, which must then get the block.
    guard let copy = vacancies.find(code: code) else {
      missedCode = code
      return nil
    }
    state.journal.append(.allocate, value: copy.raw)
    allocator.mark(copy)
    return copy
  }

  private mutating func finish(_ block: BlockRef) {
    transaction.retire(block)
    movedBytes += block.byteCount
    moves += 1
    if moves == Self.batch { commit() }
  }

  private mutating func commit() {
    if state.inTransaction { transaction.commit() }
    moves = 0
  }
}

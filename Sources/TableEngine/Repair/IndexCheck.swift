import CShims

/// Checks the index: directory, sub-tables, entries, chains.
struct IndexCheck {
  private let segment: Segment
  private let state: WriterState
  private let owners: BlockOwners
  private let problems: Problems
  /// Superseded entries and tombstones: those that a reclaim must find in *superseded* or *retained* (I7). Of each the next newer entry of its
  /// chain; 0 if it is the newest.
  private(set) var garbage: [Int: Int] = [:]
  private(set) var keyCount = 0

  init(_ segment: Segment, _ state: WriterState, _ owners: BlockOwners, _ problems: Problems) {
    self.segment = segment
    self.state = state
    self.owners = owners
    self.problems = problems
  }

  private var data: MappedMemory { state.data }
  private var end: Int { owners.end }

  private func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
    problems.expect(condition, problem())
  }

  mutating func run() {
    walkWords(at: DataLayout.root, bits: DataLayout.rootBits, above: 0, prefix: 0)
  }

  /// Directory words `0..<2^bits` at `offset`, below `above` bits of the hash that read `prefix`.
  private mutating func walkWords(at offset: Int, bits: Int, above: Int, prefix: UInt64) {
    var index = 0
    while index < 1 << bits {
      let word = DirectoryWord(data.loadRelaxed(offset + index * 8))
      let here = prefix << UInt64(bits) | UInt64(index)
      expect(!word.hasImpossibleBits, "directory word \(here) has bits set that no writer sets: \(word.raw)")
      if word.isNode {
        walkNode(word, below: above + bits, prefix: here)
        index += 1
        continue
      }
      guard word.bits >= above, word.bits <= above + bits else {
        expect(false, "directory word \(here) claims a depth of \(word.bits)")
        index += 1
        continue
      }
      let span = 1 << (above + bits - word.bits)
      for other in index..<min(index + span, 1 << bits) {
        expect(data.loadRelaxed(offset + other * 8) == word.raw, "directory word \(here): its prefix is not uniform")
      }
      expect(index & (span - 1) == 0, "directory word \(here) begins in the middle of its prefix")
      walkSubTables(word, prefix: here >> UInt64(above + bits - word.bits))
      index = (index & ~(span - 1)) + span
    }
  }

  private mutating func walkNode(_ word: DirectoryWord, below above: Int, prefix: UInt64) {
    // A block's name keeps fewer bits of its place than the word has.
    guard word.offset >= 0, word.offset < end else {
      return expect(false, "a directory word leads to \(word.offset), where no node can be")
    }
    guard above == DataLayout.rootBits, word.offset % 16 == 0, (1...(SubTable.maximumDepth - above)).contains(word.bits)
    else {
      return expect(false, "a directory node below \(above) bits claims \(word.bits)")
    }
    let block = BlockRef(offset: word.offset, code: SizeClasses.code(byteCount: word.nodeByteCount))
    if owners.enter(block, .node) { walkWords(at: word.offset, bits: word.bits, above: above, prefix: prefix) }
  }

  private mutating func walkSubTables(_ word: DirectoryWord, prefix: UInt64) {
    let byteCount = word.isDeep ? SubTable.deepByteCount : SubTable.byteCount
    var subTable = word.offset
    repeat {
      guard subTable >= 0, subTable < end, subTable % 64 == 0 else {
        return expect(false, "a directory word or link leads to \(subTable), where no sub-table can be")
      }
      guard owners.enter(BlockRef(offset: subTable, code: SizeClasses.code(byteCount: byteCount)), .subTable) else {
        return
      }
      for index in 0..<(SubTable.bucketCount * 8) {
        walkWord(data.loadRelaxed(subTable + index * 8), bucket: index / 8, word, prefix: prefix)
      }
      subTable = word.isDeep ? Int(truncatingIfNeeded: data.loadRelaxed(subTable + SubTable.link)) : 0
    } while subTable != 0
  }

  private mutating func walkWord(_ word: UInt64, bucket: Int, _ directory: DirectoryWord, prefix: UInt64) {
    guard BucketWord.namesEntry(word) else {
      return expect(
        word == BucketWord.empty || word == BucketWord.deleted, "a bucket holds the impossible word \(word)")
    }
    let entry = BucketWord.offset(word)
    guard let meta = enterEntry(entry) else { return }
    let hash = state.hashOfEntry(entry)
    expect(word >> 48 == UInt64(BucketWord.tag(hash: hash)), "the entry at \(entry) lies under another key's tag")
    let depth = UInt64(directory.bits)
    expect(depth == 0 || hash >> (64 - depth) == prefix, "the entry at \(entry) lies under another prefix")
    let distance = (bucket &- Int(truncatingIfNeeded: hash)) & (SubTable.bucketCount - 1)
    expect(
      directory.isDeep || distance < SubTable.window, "the entry at \(entry) lies \(distance) buckets from its home")
    let found = search(entry, meta, hash: hash)
    expect(found == entry, "a search for the key of the entry at \(entry) finds \(found): hidden, or there twice")
    if !meta.isTombstone { keyCount += 1 }
    walkChain(from: entry, meta)
  }

  /// What an observer, who believes nothing, finds under the entry's key: 0 for nothing.
  private func search(_ entry: Int, _ meta: EntryMeta, hash: UInt64) -> Int {
    let key = unsafe UnsafeRawBufferPointer(start: data.pointer(entry + meta.keyOffset), count: meta.keyLength)
    var walk = ObserverLookup(segment, checkingTo: end)
    return ((try? unsafe walk.find(key, hash: hash)) ?? nil)?.offset ?? 0
  }

  /// - Returns: nil if the entry is impossible or was seen before.
  private func enterEntry(_ entry: Int) -> EntryMeta? {
    guard owners.blockPlaces.mayHoldEntry(at: entry) else {
      expect(false, "an entry lies at \(entry), where none can be")
      return nil
    }
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    guard meta.byteCount <= end - entry else {
      expect(false, "the entry at \(entry) claims \(meta.byteCount) bytes")
      return nil
    }
    guard let code = owners.blockPlaces.code(ofEntry: entry, meta, data) else {
      expect(false, "the entry at \(entry) is of a block of a size that cannot be")
      return nil
    }
    guard owners.enter(BlockRef(offset: entry, code: code), .entry) else { return nil }
    expect(meta.isPossible, "the entry at \(entry) has a third word that no writer writes: \(meta.raw)")
    let version = data.loadRelaxed(entry + Entry.version)
    expect(version != 0, "the entry at \(entry) is of version 0, which no barrier has")
    expect(version <= state.committed, "the entry at \(entry) is of version \(version), not committed yet (I4)")
    for position in (meta.keyOffset + meta.keyLength)..<meta.valueOffset {
      expect(data.byte(entry + position) == 0, "the entry at \(entry) has padding that is not zero")
    }
    return meta
  }

  /// Versions of one key, newest first; what is behind the first is garbage, and so is every tombstone.
  private mutating func walkChain(from head: Int, _ headMeta: EntryMeta) {
    if headMeta.isTombstone { garbage[head] = 0 }
    if state.variant == .rwlock {
      expect(!headMeta.isTombstone, "the entry at \(head) is a tombstone, in the rwlock variant")
      return expect(data.loadRelaxed(head + Entry.prev) == 0, "the entry at \(head) keeps an older version")
    }
    var newer = head
    while data.loadRelaxed(newer + Entry.version) > state.chainsCutAt {
      let entry = Int(truncatingIfNeeded: data.loadRelaxed(newer + Entry.prev))
      guard entry != 0, let meta = enterEntry(entry) else { return }
      garbage[entry] = newer
      expect(
        data.loadRelaxed(entry + Entry.version) <= data.loadRelaxed(newer + Entry.version),
        "the entry at \(entry) is newer than the one before it in its chain")
      let same =
        meta.keyLength == headMeta.keyLength
        && (unsafe shm_equal(
          data.pointer(entry + meta.keyOffset), data.pointer(head + headMeta.keyOffset), meta.keyLength))
      expect(same, "the entry at \(entry) hangs in another key's chain")
      newer = entry
    }
  }
}

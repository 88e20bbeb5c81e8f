import CShims

/// Makes room in the index. A split touches one sub-table and the directory words of its prefix; its work does not
/// grow with the table ("Index" in DESIGN.md). It is part of the transaction that caused it.
///
/// Extendible hashing in the manner of CCEH (Nam et al., FAST 2019) and Dash (Lu et al., VLDB 2020); what differs is
/// that a split builds both halves aside, so that readers of the old sub-table lose nothing, and that the
/// directory has two levels, so that it never doubles as a whole.
struct Splitter {
  let transaction: Transaction

  private var state: WriterState { transaction.state }
  var data: MappedMemory { transaction.state.data }
  var journal: Journal { transaction.state.journal }

  /// Makes a vacancy for a key whose window is full: a split, or at the deepest level a deep or linked sub-table.
  func makeRoom(hash: UInt64, _ location: Location) throws(EngineError) {
    try transaction.reserve(16)
    let word = state.lookup.directoryWord(hash: hash).word
    if word.isDeep { return try linkFurther(location.subTable) }
    if word.bits >= SubTable.maximumDepth { return try rebuildDeep(word, hash: hash) }
    try split(word, hash: hash)
  }

  private func split(_ old: DirectoryWord, hash: UInt64) throws(EngineError) {
    var built: [BlockRef] = []
    do {
      for _ in 0..<2 { built.append(try transaction.allocate(byteCount: SubTable.byteCount)) }
      let needsNode = old.bits >= DataLayout.rootBits && old.bits - DataLayout.rootBits == nodeBits(hash: hash)
      var node: BlockRef?
      if needsNode {
        node = try transaction.allocate(byteCount: DirectoryWord.nodeByteCount(bits: nodeBits(hash: hash) + 1))
        built.append(node!)
      }
      if !distribute(old, into: built[0].offset, built[1].offset) {
        copyInPlace(old, into: built[0].offset, built[1].offset)
      }
      storeDirectory(
        old, hash: hash, node: node, DirectoryWord(subTable: built[0].offset, depth: old.bits + 1),
        DirectoryWord(subTable: built[1].offset, depth: old.bits + 1))
      transaction.retire(BlockRef(offset: old.offset, code: SizeClasses.code(byteCount: SubTable.byteCount)))
    } catch {
      for block in built { transaction.retire(block) }
      throw error
    }
  }

  /// Bits of the node below the root word of this hash; 0 where the root word is a sub-table.
  private func nodeBits(hash: UInt64) -> Int {
    let root = DirectoryWord(data.loadRelaxed(DataLayout.rootWord(ofHash: hash)))
    return root.isNode ? root.bits : 0
  }

  /// Copies the live words of a sub-table to the two halves of its prefix, by home bucket.
  /// - Returns: false if a half has no room in some key's window. Few keys are enough for that if they lie across the end of the buckets: the
  ///   first buckets' come first, and may take the room of the last buckets'.
  private func distribute(_ old: DirectoryWord, into zero: Int, _ one: Int) -> Bool {
    data.zero(zero, count: SubTable.byteCount)
    data.zero(one, count: SubTable.byteCount)
    var fits = true
    forEachWord(in: old.offset) { word, hash in
      if fits { fits = insert(word, hash: hash, into: isOfUpperHalf(hash, old) ? one : zero, steps: SubTable.window) }
    }
    return fits
  }

  /// Copies the words of a sub-table to the same places of the two halves of its prefix. Each half has a *deleted* word where the other one
  /// has a key, so no search ends before a key that it would have found in the old sub-table. Room for each is certain. For what
  /// ``distribute(_:into:_:)`` cannot place: it leaves no such words behind, which make searches longer.
  private func copyInPlace(_ old: DirectoryWord, into zero: Int, _ one: Int) {
    for place in stride(from: 0, to: SubTable.byteCount, by: 8) {
      let word = data.loadRelaxed(old.offset + place)
      let isEntry = BucketWord.namesEntry(word)
      let upper = isEntry && isOfUpperHalf(state.hashOfEntry(BucketWord.offset(word)), old)
      data.storeRelaxed(zero + place, upper ? BucketWord.deleted : word)
      data.storeRelaxed(one + place, isEntry && !upper ? BucketWord.deleted : word)
    }
    state.work.wordsMoved += SubTable.bucketCount * 8
  }

  /// Whether a key of a sub-table belongs in the second half of its prefix.
  private func isOfUpperHalf(_ hash: UInt64, _ old: DirectoryWord) -> Bool { (hash >> UInt64(63 - old.bits)) & 1 != 0 }

  /// Every live word with its key's hash. A bucket's entries are prefetched together: each is a cache miss.
  func forEachWord(in subTable: Int, _ body: (UInt64, UInt64) -> Void) {
    state.work.wordsMoved += SubTable.bucketCount * 8
    for bucket in 0..<SubTable.bucketCount {
      let offset = subTable + bucket * SubTable.bucketBytes
      if bucket + 1 < SubTable.bucketCount {
        for slot in 8..<16 {
          let next = BucketWord.offset(data.loadRelaxed(offset + slot * 8))
          if next != 0 { unsafe shm_prefetch(data.pointer(next)) }
        }
      }
      for slot in 0..<8 {
        let word = data.loadRelaxed(offset + slot * 8)
        guard BucketWord.namesEntry(word) else { continue }
        body(word, state.hashOfEntry(BucketWord.offset(word)))
      }
    }
  }

  /// First fit from the home bucket on. The target is not published yet: plain order is enough.
  func insert(_ word: UInt64, hash: UInt64, into subTable: Int, steps: Int) -> Bool {
    for step in 0..<steps {
      let bucket = SubTable.bucket(subTable, hash: hash, step: step)
      let empty = unsafe shm_match_tag(data.pointer(bucket), 0)
      if empty != 0 {
        data.storeRelaxed(bucket + empty.trailingZeroBitCount * 8, word)
        return true
      }
    }
    return false
  }

  // MARK: - Directory

  /// Points the words of the old sub-table's prefix to its two halves. One journal record stands for all of them.
  ///
  /// PAIR publish-directory. Other end: Lookup.directoryWord. Release: the halves' words must be visible first.
  private func storeDirectory(
    _ old: DirectoryWord, hash: UInt64, node: BlockRef?, _ zero: DirectoryWord, _ one: DirectoryWord
  ) {
    if let node { return storeNode(node, old, hash: hash, zero, one) }
    let (first, count) = prefixWords(old, hash: hash)
    journal.append(.fill, offset: first, count: count, value: old.raw)
    for index in 0..<count {
      data.storeRelease(first + index * 8, index < count / 2 ? zero.raw : one.raw)
    }
    state.work.wordsMoved += count
  }

  /// Offset of the first directory word of a sub-table's prefix, and how many there are.
  private func prefixWords(_ word: DirectoryWord, hash: UInt64) -> (first: Int, count: Int) {
    let rootIndex = DataLayout.rootIndex(ofHash: hash)
    let root = DirectoryWord(data.loadRelaxed(DataLayout.rootWord(rootIndex)))
    if !root.isNode {
      // No node below it: the sub-table's depth is at most the root's.
      let count = 1 << (DataLayout.rootBits - word.bits)
      return (DataLayout.rootWord(rootIndex & ~(count - 1)), count)
    }
    // Below a node no sub-table is shallower than the root's words: `replace` dissolves the node first. Else `count`
    // would be more words than the node has.
    assert(word.bits >= DataLayout.rootBits)
    let count = 1 << (root.bits - (word.bits - DataLayout.rootBits))
    let index = root.index(ofHash: hash)
    return (root.offset + (index & ~(count - 1)) * 8, count)
  }

  /// Replaces a node by one of twice its words (or a root word by a node of two), with the halves in place.
  private func storeNode(
    _ node: BlockRef, _ old: DirectoryWord, hash: UInt64, _ zero: DirectoryWord, _ one: DirectoryWord
  ) {
    let rootOffset = DataLayout.rootWord(ofHash: hash)
    let root = DirectoryWord(data.loadRelaxed(rootOffset))
    let bits = root.isNode ? root.bits : 0
    for index in 0..<(1 << bits) {
      let word = bits == 0 ? root.raw : data.loadRelaxed(root.offset + index * 8)
      data.storeRelaxed(node.offset + index * 16, word == old.raw ? zero.raw : word)
      data.storeRelaxed(node.offset + index * 16 + 8, word == old.raw ? one.raw : word)
    }
    journal.append(.fill, offset: rootOffset, count: 1, value: root.raw)
    data.storeRelease(rootOffset, DirectoryWord(node: node.offset, bits: bits + 1).raw)
    state.work.wordsMoved += 2 << bits
    if root.isNode {
      transaction.retire(BlockRef(offset: root.offset, code: SizeClasses.code(byteCount: root.nodeByteCount)))
    }
  }

  /// Has all words of the old sub-table's prefix name another one, which holds its keys: of the same depth, or of one less.
  ///
  /// PAIR publish-directory. Other end: Lookup.directoryWord. Release: the new one's words must be visible first.
  func replace(_ old: DirectoryWord, hash: UInt64, by new: DirectoryWord) {
    if new.bits < DataLayout.rootBits, dissolveNode(hash: hash, into: new) { return }
    let (first, count) = prefixWords(old, hash: hash)
    journal.append(.fill, offset: first, count: count, value: old.raw)
    for index in 0..<count { data.storeRelease(first + index * 8, new.raw) }
    state.work.wordsMoved += count
  }

  /// Puts the node of a root word elsewhere: the same words, where that word names them from now on. The node of before is the caller's to
  /// retire.
  ///
  /// PAIR publish-directory. Other end: Lookup.directoryWord. Release: the copy's words must be visible first.
  func moveNode(ofRootWord index: Int, to offset: Int) {
    let rootOffset = DataLayout.rootWord(index)
    let root = DirectoryWord(data.loadRelaxed(rootOffset))
    unsafe data.copy(data.pointer(root.offset), count: root.nodeByteCount, to: offset)
    journal.append(.fill, offset: rootOffset, count: 1, value: root.raw)
    data.storeRelease(rootOffset, DirectoryWord(node: offset, bits: root.bits).raw)
    state.work.wordsMoved += 1 << root.bits
  }

  /// Has a root word that is a node name a sub-table instead, which holds all that is below the node. Its own prefix is shorter than
  /// the root word's, and shared with the root word beside it.
  ///
  /// PAIR publish-directory. Other end: Lookup.directoryWord.
  /// - Returns: false if the root word is no node; nothing has happened.
  private func dissolveNode(hash: UInt64, into new: DirectoryWord) -> Bool {
    let rootOffset = DataLayout.rootWord(ofHash: hash)
    let root = DirectoryWord(data.loadRelaxed(rootOffset))
    guard root.isNode else { return false }
    journal.append(.fill, offset: rootOffset, count: 1, value: root.raw)
    data.storeRelease(rootOffset, new.raw)
    state.work.wordsMoved += 1
    transaction.retire(BlockRef(offset: root.offset, code: SizeClasses.code(byteCount: root.nodeByteCount)))
    return true
  }
}

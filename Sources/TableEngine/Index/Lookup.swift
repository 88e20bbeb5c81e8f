import CShims

/// Finds keys. For participants, whose offsets are trusted.
@frozen @usableFromInline
struct Lookup {
  @usableFromInline let data: MappedMemory

  @inlinable @inline(__always)
  init(data: MappedMemory) { self.data = data }

  /// The directory word that covers a hash, and where it lies.
  ///
  /// PAIR publish-directory. Other end: Splitter.storeDirectory. Acquire: the sub-table's words must be visible before
  /// its offset is followed. Every operation loads it after the slot's announcement and never keeps it, or a reader
  /// could walk a sub-table that was freed in between.
  @inlinable @inline(__always)
  func directoryWord(hash: UInt64) -> (word: DirectoryWord, offset: Int) {
    let rootOffset = DataLayout.rootWord(ofHash: hash)
    let root = DirectoryWord(data.loadAcquire(rootOffset))
    if !root.isNode { return (root, rootOffset) }
    let offset = root.place(ofHash: hash)
    return (DirectoryWord(data.loadAcquire(offset)), offset)
  }

  /// Offset of the key's newest entry, committed or not; 0 if the index has none.
  @inlinable @inline(__always)
  func newest(_ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64) -> Int {
    let directory = directoryWord(hash: hash).word
    let tag = BucketWord.tag(hash: hash)
    let home = SubTable.bucket(directory.offset, hash: hash, step: 0)
    let found = unsafe match(key, keyLength, tag: tag, bucket: home)
    if found != 0 { return found }
    if unsafe shm_match_tag(data.pointer(home), 0) != 0 { return 0 }
    return unsafe newestFurther(key, keyLength, hash: hash, directory)
  }

  /// The search behind a home bucket that is full and does not hold the key.
  @usableFromInline @inline(never)
  func newestFurther(_ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, _ directory: DirectoryWord) -> Int {
    let tag = BucketWord.tag(hash: hash)
    for step in 1..<SubTable.window {
      let bucket = SubTable.bucket(directory.offset, hash: hash, step: step)
      let found = unsafe match(key, keyLength, tag: tag, bucket: bucket)
      if found != 0 { return found }
      if unsafe shm_match_tag(data.pointer(bucket), 0) != 0 { return 0 }
    }
    return directory.isDeep ? unsafe newestDeep(key, keyLength, hash: hash, subTable: directory.offset) : 0
  }

  @inlinable @inline(__always)
  func match(_ key: UnsafeRawPointer, _ keyLength: Int, tag: UInt32, bucket: Int) -> Int {
    var candidates = unsafe shm_match_tag(data.pointer(bucket), tag)
    while candidates != 0 {
      // PAIR publish-entry. Other end: Transaction.publish. Acquire: the entry's bytes must be visible before its
      // offset is followed. The word may have changed since the tags were compared; the key decides.
      let word = data.loadAcquire(bucket &+ candidates.trailingZeroBitCount &* 8)
      let entry = BucketWord.offset(word)
      if entry != 0, unsafe keyEquals(key, keyLength, entry: entry) { return entry }
      candidates &= candidates &- 1
    }
    return 0
  }

  /// The entry of the first word of a bucket that has the hash's tag: nearly always the key's, if that lies in this
  /// bucket. 0 if no word has it.
  @inline(__always)
  func likelyEntry(hash: UInt64, bucket: Int) -> Int {
    let place = unsafe shm_first_tag(data.pointer(bucket), BucketWord.tag(hash: hash))
    // PAIR publish-entry. Other end: Transaction.publish. Acquire, as in `match`.
    return place < 0 ? 0 : BucketWord.offset(data.loadAcquire(bucket &+ place))
  }

  @inlinable @inline(__always)
  func keyEquals(_ key: UnsafeRawPointer, _ keyLength: Int, entry: Int) -> Bool {
    let meta = EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta))
    var offset = Entry.headerBytes
    if !meta.isOfKeyBehindHeader(keyLength) {
      guard meta.keyLength == keyLength else { return false }
      offset = meta.keyOffset
    }
    return unsafe shm_equal(data.pointer(entry &+ offset), key, keyLength)
  }

  /// The rest of a deep sub-table and those it links to. Rare: crafted keys, or a directory at its deepest.
  @usableFromInline @inline(never)
  func newestDeep(_ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, subTable first: Int) -> Int {
    var subTable = first
    let tag = BucketWord.tag(hash: hash)
    while subTable != 0 {
      for step in 0..<SubTable.bucketCount {
        let bucket = SubTable.bucket(subTable, hash: hash, step: step)
        let found = unsafe match(key, keyLength, tag: tag, bucket: bucket)
        if found != 0 { return found }
        if unsafe shm_match_tag(data.pointer(bucket), 0) != 0 { return 0 }
      }
      // PAIR publish-link. Other end: Splitter.linkFurther. Acquire: the linked sub-table's words come after its offset, or stray bytes would be
      // taken for words.
      subTable = Int(data.loadAcquire(subTable + SubTable.link))
    }
    return 0
  }

  /// Offset of the version of a key that a snapshot sees; 0 if there is none.
  @inlinable @inline(__always)
  func visible(_ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, snapshot: UInt64) -> Int {
    visible(from: unsafe newest(key, keyLength, hash: hash), snapshot: snapshot)
  }

  /// The version of a chain that a snapshot sees: the newest not above it; 0 if there is none.
  ///
  /// PAIR chain-prev. Other end: UnlinkPass.unlink. Acquire: a reclaiming process may have unlinked a version here, and
  /// what `prev` names now must be visible.
  @inlinable @inline(__always)
  func visible(from newest: Int, snapshot: UInt64) -> Int {
    var entry = newest
    while entry != 0, data.loadRelaxed(entry &+ Entry.version) > snapshot {
      entry = Int(data.loadAcquire(entry &+ Entry.prev))
    }
    return entry
  }
}

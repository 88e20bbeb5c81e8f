import CShims
import SharedMemory

/// A read by someone who stores nothing anywhere and trusts nothing it reads (G8).
///
/// RCU variant: take S = `committed`, walk, copy out, fence, and if `reclaimed` has passed S, what was walked may
/// have been reused meanwhile: throw the result away. rwlock variant: a seqlock reader on `wseq`.
///
/// Bounds are the smaller of the published size and the object's real size; each length and offset is read once
/// into a local; alignment is checked; every walk is bounded. What does not fit is either a race, which validation
/// then shows, or damage, which is said.
struct ObserverWalk {
  let data: Memory
  let variant: Variant
  private let hashSeed: UInt64
  let snapshot: UInt64
  /// rwlock variant: the even sequence the walk began at.
  let sequence: UInt64
  let object: SharedObject
  var limit: Int

  /// The walk met something impossible; ``settle(_:)`` finds out whether that was a race.
  struct Inconsistent: Error {
    let what: String
  }

  /// Waits, in the rwlock variant, for a moment without a barrier.
  /// - Throws: `busy` when the time is over.
  init(_ segment: Segment, timeoutNanoseconds: UInt64) throws(EngineError) {
    let deadline = HostClock.monotonicNanoseconds &+ timeoutNanoseconds
    var attempts = 0
    var sequence = segment.data.loadAcquire(DataLayout.wseq)
    while segment.variant == .rwlock, sequence & 1 != 0 {
      attempts += 1
      if attempts > 1000 {
        if HostClock.monotonicNanoseconds >= deadline { throw .busy(attempts: attempts) }
        shmos_sleep(100_000)
      }
      shm_pause()
      sequence = segment.data.loadAcquire(DataLayout.wseq)
    }
    // PAIR pend-committed. Other end: Writer.publishVersion.
    self.init(segment, snapshot: segment.data.loadAcquire(DataLayout.committed), sequence: sequence)
  }

  init(_ segment: Segment, snapshot: UInt64, sequence: UInt64) {
    data = segment.data
    variant = segment.variant
    hashSeed = segment.hashSeed
    self.snapshot = snapshot
    self.sequence = sequence
    object = segment.dataObject
    limit = segment.geometry.unitsOffset
  }

  /// PAIR reclaimed-unlink. Other end: Writer.raiseReclaimed. The acquire fence keeps our reads before this load:
  /// had one of them seen a reuse, it would see `reclaimed` raised.
  /// PAIR wseq. Other end: Writer.bumpSequence.
  var isStillValid: Bool {
    #if MUTANT_OBSERVER_TRUSTS_RACES
      return true
    #endif
    shm_fence_acquire()
    return variant == .rcu
      ? data.loadRelaxed(DataLayout.reclaimed) <= snapshot : data.loadRelaxed(DataLayout.wseq) == sequence
  }

  /// Turns the end of a walk into its meaning.
  func settle<T>(_ result: Result<T, Inconsistent>) throws(EngineError) -> T {
    guard isStillValid else { throw .snapshotTooOld }
    switch result {
    case .success(let value): return value
    case .failure(let inconsistency): throw .damaged(inconsistency.what)
    }
  }

  // MARK: - Checked access

  /// PAIR published-size. Other end: Allocator.publishUnits.
  mutating func require(_ offset: Int, _ count: Int, alignment: Int, _ what: String) throws(Inconsistent) {
    guard offset >= 0, offset % alignment == 0 else { throw Inconsistent(what: "\(what) at \(offset) is misaligned") }
    #if MUTANT_OBSERVER_TRUSTS_OFFSETS
      return
    #endif
    if offset + count <= limit { return }
    let published = Int(truncatingIfNeeded: data.loadAcquire(DataLayout.publishedBytes) & ((1 << 48) - 1))
    guard let size = try? object.status().size else { throw Inconsistent(what: "the object cannot be examined") }
    limit = min(published, size)
    if offset + count > limit {
      throw Inconsistent(what: "\(what) at \(offset) lies beyond the table's \(limit) bytes")
    }
  }

  mutating func directoryWord(hash: UInt64) throws(Inconsistent) -> DirectoryWord {
    let root = DirectoryWord(data.loadAcquire(DataLayout.root + Int(hash >> 54) * 8))
    guard root.isNode else { return root }
    guard (1...(SubTable.maximumDepth - DataLayout.rootBits)).contains(root.bits) else {
      throw Inconsistent(what: "a directory node claims \(root.bits) bits")
    }
    try require(root.offset, 8 << root.bits, alignment: 8, "directory node")
    let index = Int((hash << UInt64(DataLayout.rootBits)) >> UInt64(64 - root.bits))
    let word = DirectoryWord(data.loadAcquire(root.offset + index * 8))
    if word.isNode { throw Inconsistent(what: "a directory node holds a node") }
    return word
  }

  /// Offset and meta of the version of `key` that the snapshot sees; nil if there is none.
  mutating func find(
    _ key: UnsafeRawBufferPointer, hash: UInt64
  ) throws(Inconsistent) -> (offset: Int, meta: EntryMeta)? {
    let directory = try directoryWord(hash: hash)
    let tag = BucketWord.tag(hash: hash)
    let steps = directory.isDeep ? SubTable.bucketCount : SubTable.window
    var subTable = directory.offset
    var hops = 0
    while subTable != 0 {
      try require(subTable, directory.isDeep ? SubTable.deepByteCount : SubTable.byteCount, alignment: 64, "sub-table")
      for step in 0..<steps {
        let bucket = SubTable.bucket(subTable, hash: hash, step: step)
        var candidates = unsafe shm_match_tag(data.pointer(bucket), tag)
        while candidates != 0 {
          let newest = BucketWord.offset(data.loadAcquire(bucket + candidates.trailingZeroBitCount * 8))
          if newest != 0, let meta = try unsafe match(key, newest) { return try visible(newest, meta) }
          candidates &= candidates - 1
        }
        if unsafe shm_match_tag(data.pointer(bucket), 0) != 0 { return nil }
      }
      guard directory.isDeep else { return nil }
      subTable = try follow(subTable, &hops)
    }
    return nil
  }

  private mutating func follow(_ subTable: Int, _ hops: inout Int) throws(Inconsistent) -> Int {
    hops += 1
    if hops > limit / SubTable.byteCount { throw Inconsistent(what: "the links between sub-tables form a cycle") }
    return Int(truncatingIfNeeded: data.loadAcquire(subTable + SubTable.link) & BucketWord.offsetMask)
  }

  private mutating func checkedMeta(_ entry: Int) throws(Inconsistent) -> EntryMeta {
    try require(entry, Entry.headerBytes, alignment: 16, "entry")
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    try require(entry, meta.byteCount, alignment: 16, "entry")
    return meta
  }

  private mutating func match(_ key: UnsafeRawBufferPointer, _ entry: Int) throws(Inconsistent) -> EntryMeta? {
    let meta = try checkedMeta(entry)
    guard meta.keyLength == key.count,
      unsafe shm_equal(data.pointer(entry + meta.keyOffset), key.baseAddress!, key.count)
    else { return nil }
    return meta
  }

  /// Walks a chain to the version the snapshot sees. The length is bounded: a cycle is damage, not a hang.
  mutating func visible(_ newest: Int, _ newestMeta: EntryMeta) throws(Inconsistent) -> (offset: Int, meta: EntryMeta)?
  {
    var entry = newest
    var meta = newestMeta
    var steps = 0
    while data.loadRelaxed(entry + Entry.version) > snapshot {
      entry = Int(truncatingIfNeeded: data.loadAcquire(entry + Entry.prev) & BucketWord.offsetMask)
      if entry == 0 { return nil }
      steps += 1
      if steps > Entry.maximumChain || (steps & 1023 == 0 && !isStillValid) {
        throw Inconsistent(what: "a chain of versions does not end")
      }
      meta = try checkedMeta(entry)
    }
    return (entry, meta)
  }

  /// Visits the entries the snapshot sees in the sub-table that holds `position`, from there on; returns its depth.
  mutating func visit(
    hash position: UInt64, _ body: (Int, EntryMeta) -> Void
  ) throws(Inconsistent) -> Int {
    let directory = try directoryWord(hash: position)
    guard directory.bits <= SubTable.maximumDepth else {
      throw Inconsistent(what: "a sub-table claims depth \(directory.bits)")
    }
    // See Segment.scan.
    let isPartial = !ScanCursor.isBeginning(position, depth: directory.bits)
    var subTable = directory.offset
    var hops = 0
    var bytes = 0
    while subTable != 0 {
      try require(subTable, directory.isDeep ? SubTable.deepByteCount : SubTable.byteCount, alignment: 64, "sub-table")
      for slot in 0..<(SubTable.bucketCount * 8) {
        let newest = BucketWord.offset(data.loadAcquire(subTable + slot * 8))
        guard newest != 0, let (entry, meta) = try visible(newest, checkedMeta(newest)) else { continue }
        if isPartial, unsafe shm_hash(data.pointer(entry + meta.keyOffset), meta.keyLength, hashSeed) < position {
          continue
        }
        // Entries do not overlap. Words that all point to one long entry would make us copy it for each.
        bytes += meta.byteCount
        if bytes > limit { throw Inconsistent(what: "a sub-table's entries are larger than the table") }
        body(entry, meta)
      }
      subTable = directory.isDeep ? try follow(subTable, &hops) : 0
    }
    return directory.bits
  }
}

public import CShims
import SharedMemory

/// An observer's lookup and scan: it stores nothing anywhere and trusts nothing it reads (G8).
///
/// RCU variant: take S = `committed`, walk, copy out, fence, and if `reclaimed` has passed S, what was walked may
/// have been reused meanwhile: throw the result away. rwlock variant: a seqlock reader on `wseq`.
///
/// Bounds are the smallest of the published size, the object's real size and what is mapped of it; each length and
/// offset is read once into a local; alignment is checked. What a walk through one sub-table meets lies side by side in
/// the table, and has memory. So one that has met more bytes than the object has memory goes in circles: that bounds chains
/// and links. The object's size would bound nothing: a process that may write it can make it terabytes long, and needs no
/// memory for that. A scan meets a sub-table once, and an entry at most once a level of the directory, if splits are undone
/// under it: that bounds it all.
/// What does not fit is either a race, which validation then shows, or damage, which is said.
struct ObserverLookup {
  let data: MappedMemory
  /// How many bytes of the object are mapped, or may be looked at if that is less.
  let mappedBytes: Int
  let variant: Variant
  private let hashSeed: UInt64
  let snapshot: UInt64
  /// rwlock variant: the even sequence the walk began at.
  let sequence: UInt64
  private let segment: Segment
  private(set) var limit: Int
  /// As many bytes a walk may meet before it looks again how much memory the object has.
  private var budget = unexaminedBytes
  /// Most walks meet less than this, and need not look.
  private static let unexaminedBytes = 1 << 20
  /// Bytes of sub-tables and entries met since the walk began.
  private(set) var metBytes = 0
  /// Bytes met in the whole scan under way: of sub-tables and entries, and of sub-tables alone.
  private var scannedBytes = 0
  private var scannedSubTableBytes = 0
  /// Where that scan goes on.
  private var scanCursor = ScanCursor()

  /// The walk met something impossible; ``meaning(of:)`` finds out whether that was a race.
  struct Inconsistent: Error {
    let what: String
  }

  /// How often an observer looks whether the barrier has ended before it sleeps between two looks.
  private static let attemptsBeforeSleep = 1000

  /// Waits, in the rwlock variant, for a moment without a barrier.
  /// - Throws: `busy` when the time is over; `wouldDeadlock` if that barrier is this thread's.
  init(_ segment: Segment, timeoutNanoseconds: UInt64) throws(EngineError) {
    let deadline = HostClock.monotonicNanoseconds &+ timeoutNanoseconds
    var attempts = 0
    var sequence = segment.data.loadAcquire(DataLayout.wseq)
    while segment.variant == .rwlock, sequence & 1 != 0 {
      attempts += 1
      if attempts == Self.attemptsBeforeSleep { try segment.checkOutsideParticipantsBarrier() }
      if attempts > Self.attemptsBeforeSleep {
        if HostClock.monotonicNanoseconds >= deadline { throw .busy(attempts: attempts) }
        shmos_sleep(100_000)
      }
      shm_pause()
      sequence = segment.data.loadAcquire(DataLayout.wseq)
    }
    // PAIR pend-committed. Other end: CommitPoint.publish.
    self.init(segment, snapshot: segment.data.loadAcquire(DataLayout.committed), sequence: sequence)
  }

  init(_ segment: Segment, snapshot: UInt64, sequence: UInt64) {
    data = segment.data
    mappedBytes = segment.dataMapping.count
    variant = segment.variant
    hashSeed = segment.hashSeed
    self.snapshot = snapshot
    self.sequence = sequence
    self.segment = segment
    limit = max(segment.observedLimit.load(ordering: .relaxed), segment.geometry.unitsOffset)
  }

  /// A check's, which owns W and looks at the newest version of all that lies before `end`, where the units end.
  init(_ segment: Segment, checkingTo end: Int) {
    data = segment.data
    mappedBytes = end
    variant = segment.variant
    hashSeed = segment.hashSeed
    snapshot = .max
    sequence = 0
    self.segment = segment
    limit = end
  }

  /// PAIR wseq-data. Other end: WriterState.bumpSequence.
  var isStillValid: Bool {
    if variant == .rcu { return segment.isUnreclaimed(snapshot) }
    shm_fence_acquire()
    return data.loadRelaxed(DataLayout.wseq) == sequence
  }

  /// Turns the end of a walk into its meaning.
  func meaning<T>(of result: Result<T, Inconsistent>) throws(EngineError) -> T {
    guard isStillValid else { throw .snapshotTooOld }
    switch result {
    case .success(let value): return value
    case .failure(let inconsistency): throw .damaged(inconsistency.what)
    }
  }

  // MARK: - Checked access

  /// Nothing that a walk comes to lies in the header: 0 in a directory word is damage, and not the end of something. The log may be come to, in a
  /// repair (``Repairer``).
  ///
  /// PAIR published-size. Other end: Allocator.publishUnits.
  mutating func require(_ offset: Int, _ count: Int, alignment: Int, _ what: String) throws(Inconsistent) {
    guard offset >= DataLayout.log else { throw Inconsistent(what: "\(what) at \(offset) lies in the header") }
    guard offset % alignment == 0 else { throw Inconsistent(what: "\(what) at \(offset) is misaligned") }
    if offset + count <= limit { return }
    let published = Int(truncatingIfNeeded: data.loadAcquire(DataLayout.publishedBytes) & ((1 << 48) - 1))
    guard let size = try? segment.dataObject.status().size else {
      throw Inconsistent(what: "the object cannot be examined")
    }
    limit = min(published, size, mappedBytes)
    // Relaxed: an older limit only costs another look.
    segment.observedLimit.store(limit, ordering: .relaxed)
    if offset + count > limit {
      throw Inconsistent(what: "\(what) at \(offset) lies beyond the table's \(limit) bytes")
    }
  }

  private mutating func meet(_ count: Int) throws(Inconsistent) {
    metBytes += count
    if exceedsMemory(metBytes) { throw Inconsistent(what: "its chains or links lead in circles") }
  }

  /// Whether this many bytes of sub-tables and entries are more than the object has.
  private mutating func exceedsMemory(_ bytes: Int) -> Bool { bytes > budget && exceedsMemoryOfNow(bytes) }

  @inline(never)
  private mutating func exceedsMemoryOfNow(_ bytes: Int) -> Bool {
    // Pages that were swapped out count, too. An object that cannot be examined has what `require` found.
    let allocated = (try? segment.dataObject.status().allocated) ?? limit
    budget = min(limit, allocated)
    return bytes > budget
  }

  mutating func directoryWord(hash: UInt64) throws(Inconsistent) -> DirectoryWord {
    let root = DirectoryWord(data.loadAcquire(DataLayout.rootWord(ofHash: hash)))
    guard root.isNode else { return root }
    guard (1...(SubTable.maximumDepth - DataLayout.rootBits)).contains(root.bits) else {
      throw Inconsistent(what: "a directory node claims \(root.bits) bits")
    }
    try require(root.offset, root.nodeByteCount, alignment: 8, "directory node")
    let word = DirectoryWord(data.loadAcquire(root.place(ofHash: hash)))
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
    var circle = CircleDetector()
    metBytes = 0
    repeat {
      try enter(subTable, deep: directory.isDeep)
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
      subTable = directory.isDeep ? try next(subTable, &circle) : 0
    } while subTable != 0
    return nil
  }

  private mutating func enter(_ subTable: Int, deep: Bool) throws(Inconsistent) {
    let byteCount = deep ? SubTable.deepByteCount : SubTable.byteCount
    try require(subTable, byteCount, alignment: 64, "sub-table")
    try meet(byteCount)
  }

  /// The sub-table that a deep one links to; 0 if none.
  private func next(_ subTable: Int, _ circle: inout CircleDetector) throws(Inconsistent) -> Int {
    let next = Int(truncatingIfNeeded: data.loadAcquire(subTable + SubTable.link) & BucketWord.offsetMask)
    if circle.closes(from: subTable, to: next) { throw Inconsistent(what: "its sub-tables' links lead in circles") }
    return next
  }

  private mutating func checkedMeta(_ entry: Int) throws(Inconsistent) -> EntryMeta {
    try require(entry, Entry.headerBytes, alignment: 16, "entry")
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    try require(entry, meta.byteCount, alignment: 16, "entry")
    try meet(meta.byteCount)
    return meta
  }

  private mutating func match(_ key: UnsafeRawBufferPointer, _ entry: Int) throws(Inconsistent) -> EntryMeta? {
    let meta = try checkedMeta(entry)
    guard meta.keyLength == key.count,
      unsafe shm_equal_racy(data.pointer(entry + meta.keyOffset), key.baseAddress!, key.count)
    else { return nil }
    return meta
  }

  /// Walks a chain to the version the snapshot sees.
  mutating func visible(_ newest: Int, _ newestMeta: EntryMeta) throws(Inconsistent) -> (offset: Int, meta: EntryMeta)?
  {
    var entry = newest
    var meta = newestMeta
    var steps = 0
    var circle = CircleDetector()
    while data.loadRelaxed(entry + Entry.version) > snapshot {
      let older = Int(truncatingIfNeeded: data.loadAcquire(entry + Entry.prev) & BucketWord.offsetMask)
      if older == 0 { return nil }
      // The bound by memory would end a circle, too, but in a large table only after minutes.
      if circle.closes(from: entry, to: older) { throw Inconsistent(what: "a chain of versions leads in a circle") }
      entry = older
      steps += 1
      if steps & 1023 == 0, !isStillValid { throw Inconsistent(what: "a chain of versions changed meanwhile") }
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
    // A scan's cursor only moves on, so one that moves back is another scan's, which is bounded by itself. It may skip parts: those that other
    // threads of the same scan visit.
    if scanCursor.position.map({ position < $0 }) ?? true { (scannedBytes, scannedSubTableBytes) = (0, 0) }
    scanCursor.position = position
    metBytes = 0
    // See Segment.scan.
    let isPartial = !ScanCursor.isBeginning(position, depth: directory.bits)
    var subTable = directory.offset
    // What the caller keeps of each step would fill its memory long before the bytes that were met are as many as the table has.
    var circle = CircleDetector()
    repeat {
      try enter(subTable, deep: directory.isDeep)
      scannedSubTableBytes += SubTable.byteCount
      // It reads as zeros: no entries, and no link. To read it would claim its pages, so that a process that may write the object could have an
      // observer claim 16 KiB by each word of the directory.
      if segment.dataObject.isHole(subTable..<subTable + SubTable.byteCount) { break }
      for slot in 0..<(SubTable.bucketCount * 8) {
        let newest = BucketWord.offset(data.loadAcquire(subTable + slot * 8))
        guard newest != 0, let (entry, meta) = try visible(newest, checkedMeta(newest)) else { continue }
        if isPartial, unsafe shm_hash_racy(data.pointer(entry + meta.keyOffset), meta.keyLength, hashSeed) < position {
          continue
        }
        body(entry, meta)
      }
      subTable = directory.isDeep ? try next(subTable, &circle) : 0
    } while subTable != 0
    scannedBytes += metBytes
    if exceedsMemory(scannedSubTableBytes) || exceedsMemory(scannedBytes / (SubTable.maximumDepth + 1)) {
      throw Inconsistent(what: "its directory leads in circles")
    }
    scanCursor.advance(past: position, depth: directory.bits)
    return directory.bits
  }
}

extension Segment {
  /// Was what an observer of the RCU variant has read at this snapshot there all the time?
  ///
  /// PAIR reclaimed-unlink. Other end: WriterState.raiseReclaimed. The acquire fence keeps our reads before this load: had one
  /// of them seen a reuse, it would see `reclaimed` raised.
  @inlinable @inline(__always)
  func isUnreclaimed(_ snapshot: UInt64) -> Bool {
    shm_fence_acquire()
    return data.loadRelaxed(DataLayout.reclaimed) <= snapshot
  }
}

public import CShims
public import SharedMemory
public import Synchronization

/// The quick copy for all readers but the most frequent one, which announces itself by a plain store: participants in the
/// rwlock variant, observers in the RCU variant, and participants there to whose process membarrier does not reach. All
/// return as ``copyQuickly(_:_:to:_:)`` does.
extension Segment {
  /// A copy of a value of this type (nil: of any) for one of these readers.
  @inlinable @inline(__always)
  func copyForOtherReader(
    _ key: UnsafeRawPointer, _ keyLength: Int, type: UInt8?, to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    observesVersions
      ? unsafe copyObserved(key, keyLength, type: type, to: target, capacity)
      : unsafe copyAsParticipant(key, keyLength, type: type, to: target, capacity)
  }

  /// A participant's copy with an announcement that costs a locked instruction or more: an exchange in the RCU variant,
  /// the gate in the rwlock variant. For an observer it is undecided.
  @usableFromInline @inline(never)
  func copyAsParticipant(
    _ key: UnsafeRawPointer, _ keyLength: Int, type: UInt8?, to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    readsDirectly
      ? unsafe copyDirectly(key, keyLength, type: type, to: target, capacity, fenced: true)
      : unsafe copyGated(key, keyLength, type: type, to: target, capacity)
  }

  /// A participant's copy in the rwlock variant.
  @inline(__always)
  private func copyGated(
    _ key: UnsafeRawPointer, _ keyLength: Int, type: UInt8?, to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    guard let gate, Entry.isKeyLength(keyLength), let record = unsafe quickRecord() else {
      return QuickCopy.undecided
    }
    let hash = unsafe shm_hash(key, keyLength, hashSeed)
    // A thread that would have to wait for long takes the general path.
    let slot = unsafe Int(record.pointee.slotIndex)
    guard gate.enterSoon(slot) else { return QuickCopy.undecided }
    let snapshot = committed
    var length = unsafe copyAnnounced(
      key, keyLength, hash: hash, snapshot: snapshot, type: type, to: target, capacity)
    if length == QuickCopy.undecided {
      length = unsafe copyFurther(key, keyLength, hash: hash, snapshot: snapshot, type: type, to: target, capacity)
    }
    gate.leave(slot: slot)
    return length
  }

  /// A participant's copy wherever the key lies, and of values behind padding: one key in fifty is not the first of its tag in its
  /// home bucket. To pass the gate a second time, for the general read, would cost more than this look.
  @inline(never)
  private func copyFurther(
    _ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, snapshot: UInt64, type: UInt8?,
    to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    let entry = unsafe Lookup(data: data).visible(key, keyLength, hash: hash, snapshot: snapshot)
    if entry == 0 { return QuickCopy.absent }
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    guard !meta.isTombstone, meta.isUnconditional(type: type) else { return QuickCopy.undecided }
    let length = meta.valueLength
    if length <= capacity { unsafe shm_copy(target, data.pointer(entry + meta.valueOffset), length) }
    return length
  }

  /// An observer's copy of a value of this type (nil: of any) in the RCU variant. What the straight path leaves
  /// undecided, a walk looks for. What the walk leaves undecided too is left to the general read, which makes a section
  /// with copies of its own.
  @inlinable @inline(__always)
  func copyObserved(
    _ key: UnsafeRawPointer, _ keyLength: Int, type: UInt8?, to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    guard Entry.isKeyLength(keyLength), shm_thread_observes_nothing(forkGeneration.number) else {
      return QuickCopy.undecided
    }
    let hash = unsafe shm_hash(key, keyLength, hashSeed)
    let length = unsafe copyValidated(key, keyLength, hash: hash, type: type, to: target, capacity)
    if length != QuickCopy.undecided { return length }
    return unsafe copyByObserverLookup(key, keyLength, type: type, to: target, capacity)
  }

  /// Every offset and length is checked before it is followed (G8), and what was copied is thrown away if its memory may
  /// have been reused meanwhile.
  ///
  /// Offsets have 48 bits and lengths 32: no sum of them overflows.
  @inlinable @inline(__always)
  func copyValidated(
    _ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, type: UInt8?, to target: UnsafeMutableRawPointer,
    _ capacity: Int
  ) -> Int {
    // PAIR pend-committed. Other end: CommitPoint.publish.
    let snapshot = data.loadAcquire(DataLayout.committed)
    let limit = observedLimit.load(ordering: .relaxed)
    guard let subTable = placeOfSubTable(hash: hash, limit), _fastPath(subTable &+ SubTable.byteCount <= limit) else {
      return QuickCopy.undecided
    }
    let bucket = SubTable.bucket(subTable, hash: hash, step: 0)
    let place = unsafe shm_first_tag(data.pointer(bucket), BucketWord.tag(hash: hash))
    if place < 0 {
      // A word that leads into the header is damage. It is asked for only here: what is found proves itself by its key.
      guard subTable >= DataLayout.log, unsafe shm_first_tag(data.pointer(bucket), 0) >= 0 else {
        return QuickCopy.undecided
      }
      return isUnreclaimed(snapshot) ? QuickCopy.absent : QuickCopy.undecided
    }
    let entry = Self.aligned(BucketWord.offset(data.loadAcquire(bucket &+ place)))
    let value = entry &+ Entry.headerBytes &+ keyLength
    guard _fastPath(value <= limit) else { return QuickCopy.undecided }
    unsafe shm_prefetch(data.pointer(entry &+ 64))
    unsafe shm_prefetch(data.pointer(entry &+ 128))
    let length = Int(data.loadRelaxedHalf(entry &+ Entry.valueLength))
    guard EntryKind(raw: data.loadRelaxedHalf(entry &+ Entry.kind)).isPlain(keyLength: keyLength, type: type),
      value &+ length <= limit, length <= capacity,
      data.loadRelaxed(entry &+ Entry.version) <= snapshot,
      unsafe shm_equal(data.pointer(entry &+ Entry.headerBytes), key, keyLength)
    else { return QuickCopy.undecided }
    unsafe shm_copy(target, data.pointer(value), length)
    return isUnreclaimed(snapshot) ? length : QuickCopy.undecided
  }

  /// Where the directory says that the sub-table of a hash lies, by way of a node if there is one; nil if what it says
  /// of a node cannot be.
  @inlinable @inline(__always)
  func placeOfSubTable(hash: UInt64, _ limit: Int) -> Int? {
    let root = DirectoryWord(data.loadAcquire(DataLayout.rootWord(ofHash: hash)))
    guard root.isNode else { return Self.aligned(root.offset) }
    let bits = root.bits
    guard bits > 0, bits <= SubTable.maximumDepth &- DataLayout.rootBits, root.offset & 7 == 0,
      root.offset &+ root.nodeByteCount <= limit
    else { return nil }
    let word = DirectoryWord(data.loadAcquire(root.place(ofHash: hash)))
    return word.isNode ? nil : Self.aligned(word.offset)
  }

  /// An offset rounded down to a multiple of 16, as every block's is. A damaged table may say any other, but words and
  /// vectors must be loaded from aligned places.
  @inlinable @inline(__always)
  static func aligned(_ offset: Int) -> Int { offset & ~15 }

  /// An observer's copy for a key that is not the first of its tag in its home bucket, or has a newer version in flight, or lies
  /// beyond what was known of the object's size; and for values behind padding.
  @usableFromInline @inline(never)
  func copyByObserverLookup(
    _ key: UnsafeRawPointer, _ keyLength: Int, type: UInt8?, to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    let key = unsafe UnsafeRawBufferPointer(start: key, count: keyLength)
    var lookup = ObserverLookup(self, snapshot: committed, sequence: 0)
    var length = QuickCopy.absent
    do throws(ObserverLookup.Inconsistent) {
      if let (entry, meta) = try unsafe lookup.find(key, hash: hash(key)), !meta.isTombstone {
        guard meta.isUnconditional(type: type) else { return QuickCopy.undecided }
        length = meta.valueLength
        if length <= capacity {
          unsafe shm_copy_racy(target, data.pointer(entry + meta.valueOffset), length)
        }
      }
    } catch {
      return QuickCopy.undecided
    }
    return lookup.isStillValid ? length : QuickCopy.undecided
  }
}

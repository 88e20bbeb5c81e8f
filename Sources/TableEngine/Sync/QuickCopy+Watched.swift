import CShims

/// The quick copy for those who must watch out for a writer: participants in the rwlock variant, observers in the RCU
/// variant. Both return as ``copyQuickly(_:_:to:_:)`` does.
extension Segment {
  /// A participant's copy in the rwlock variant. (An observer's there is undecided.)
  @usableFromInline @inline(never)
  func copyGated(
    _ key: UnsafeRawPointer, _ keyLength: Int, to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    guard let gate, UInt(bitPattern: keyLength &- 1) < 65_536 else { return QuickCopy.undecided }
    let record = unsafe shm_thread_home(id)
    guard unsafe record.pointee.segment == id, unsafe record.pointee.readDepth | record.pointee.inBarrier == 0
    else { return QuickCopy.undecided }
    let hash = unsafe shm_hash(key, keyLength, hashSeed)
    // A first try: whoever would have to wait takes the general path.
    let slot = unsafe Int(record.pointee.slotIndex)
    guard gate.tryEnter(slot) else { return QuickCopy.undecided }
    let length = unsafe copyAnnounced(key, keyLength, hash: hash, snapshot: committed, to: target, capacity)
    gate.leave(slot: slot)
    return length
  }

  /// An observer's copy in the RCU variant: every offset and length is checked before it is followed (G8), and what was
  /// copied is thrown away if its memory may have been reused meanwhile.
  ///
  /// Offsets have 48 bits and lengths 32: no sum of them overflows.
  @usableFromInline @inline(never)
  func copyObserved(
    _ key: UnsafeRawPointer, _ keyLength: Int, to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    guard UInt(bitPattern: keyLength &- 1) < 65_536, shm_thread_observes_nothing(), isOfThisProcess else {
      return QuickCopy.undecided
    }
    let hash = unsafe shm_hash(key, keyLength, hashSeed)
    // PAIR pend-committed. Other end: Writer.publishVersion.
    let snapshot = data.loadAcquire(DataLayout.committed)
    let limit = observedLimit.load(ordering: .relaxed)
    let root = DirectoryWord(data.loadAcquire(DataLayout.root &+ Int(hash >> 54) &* 8))
    guard !root.isNode, root.offset & (SubTable.bucketBytes &- 1) == 0, root.offset &+ SubTable.byteCount <= limit
    else { return QuickCopy.undecided }
    let bucket = SubTable.bucket(root.offset, hash: hash, step: 0)
    let candidates = unsafe shm_match_tag(data.pointer(bucket), BucketWord.tag(hash: hash))
    guard candidates != 0 else { return QuickCopy.undecided }
    let entry = BucketWord.offset(data.loadAcquire(bucket &+ candidates.trailingZeroBitCount &* 8))
    let value = entry &+ Entry.headerBytes &+ keyLength
    guard entry != 0, entry & 15 == 0, value <= limit else { return QuickCopy.undecided }
    unsafe shm_prefetch(data.pointer(entry &+ 64))
    unsafe shm_prefetch(data.pointer(entry &+ 128))
    let meta = EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta))
    let length = meta.valueLength
    guard meta.isPlain(keyLength: keyLength), value &+ length <= limit, length <= capacity,
      data.loadRelaxed(entry &+ Entry.version) <= snapshot,
      unsafe shm_equal(data.pointer(entry &+ Entry.headerBytes), key, keyLength)
    else { return QuickCopy.undecided }
    unsafe shm_copy(target, data.pointer(value), length)
    // PAIR reclaimed-unlink. Other end: Writer.raiseReclaimed. The acquire fence keeps the copy before this load.
    shm_fence_acquire()
    return data.loadRelaxed(DataLayout.reclaimed) <= snapshot ? length : QuickCopy.undecided
  }
}

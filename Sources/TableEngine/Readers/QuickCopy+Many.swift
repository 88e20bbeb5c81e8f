import CShims

/// Many keys at once. A read that misses the cache waits twice, for a bucket and for an entry. The reads of a batch
/// share these waits: all buckets are prefetched, then all entries, and only then is anything looked at. They are
/// prefetched into the second-level cache, where misses hold each other up least: twice as fast as into the first (Zen
/// 5, a million keys).
extension Segment {
  /// Keys looked up together: as many as the processor's buffers for cache misses make worth while.
  @inlinable public static var batchCount: Int { 32 }

  /// Copies the newest committed values of at most ``batchCount`` keys, all of one snapshot, for a participant of the RCU
  /// variant that is in no section.
  ///
  /// - Parameters:
  ///   - keys: `count` keys of `keyLength` bytes, one behind the other.
  ///   - target: the value of key i goes to `i * stride`, if it is no longer than `stride`.
  ///   - lengths: becomes each value's length, or -1 where the key is absent or expired.
  /// - Returns: false, and nothing was done, if the thread must read in a section.
  public func copyManyQuickly(
    _ keys: UnsafeRawPointer, keyLength: Int, count: Int, to target: UnsafeMutableRawPointer, stride: Int,
    lengths: UnsafeMutablePointer<Int>, _ clock: ExpiryClock
  ) -> Bool {
    guard readsDirectly, let slot = unsafe quickSlot(keyLength) else { return false }
    let record = unsafe shm_thread_home(id)
    let snapshot = unsafe announce(slot, fenced: fenced)
    // The clock may be the program's, and read the table.
    unsafe enter(record, snapshot, now: SectionTime.notYetRead)
    unsafe copyBatch(
      keys, keyLength: keyLength, count: count, snapshot: snapshot, to: target, stride: stride, lengths: lengths, clock)
    unsafe leave(record, slot)
    return true
  }

  /// As ``copyManyQuickly(_:keyLength:count:to:stride:lengths:_:)``, at the snapshot of the section that a participant's thread is in.
  public func copyMany(
    _ keys: UnsafeRawPointer, keyLength: Int, count: Int, to target: UnsafeMutableRawPointer, stride: Int,
    lengths: UnsafeMutablePointer<Int>, _ section: ReadSection, _ clock: ExpiryClock
  ) {
    unsafe copyBatch(
      keys, keyLength: keyLength, count: count, snapshot: section.snapshot, to: target, stride: stride,
      lengths: lengths, clock)
  }

  /// Keys of 16 bytes, as UUIDs are, have a loop of their own: hashing and comparing them is a few instructions if the
  /// compiler knows the length.
  private func copyBatch(
    _ keys: UnsafeRawPointer, keyLength: Int, count: Int, snapshot: UInt64, to target: UnsafeMutableRawPointer,
    stride: Int, lengths: UnsafeMutablePointer<Int>, _ clock: ExpiryClock
  ) {
    if keyLength == 16 {
      unsafe copyPasses(
        keys, keyLength: 16, count: count, snapshot: snapshot, to: target, stride: stride, lengths: lengths, clock)
    } else {
      unsafe copyPasses(
        keys, keyLength: keyLength, count: count, snapshot: snapshot, to: target, stride: stride, lengths: lengths,
        clock)
    }
  }

  @inline(__always)
  private func copyPasses(
    _ keys: UnsafeRawPointer, keyLength: Int, count: Int, snapshot: UInt64, to target: UnsafeMutableRawPointer,
    stride: Int, lengths: UnsafeMutablePointer<Int>, _ clock: ExpiryClock
  ) {
    precondition(count <= Self.batchCount)
    unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2 * Self.batchCount) { scratch in
      let hashes = scratch.baseAddress!
      let places = unsafe hashes + Self.batchCount
      unsafe fetchBuckets(keys, keyLength, count, hashes, places)
      unsafe fetchEntries(count, hashes, places)
      for index in 0..<count {
        let key = unsafe keys + index &* keyLength
        let length = unsafe copyPlain(
          key, keyLength, entry: Int(truncatingIfNeeded: places[index]), snapshot: snapshot,
          to: target + index &* stride,
          stride)
        unsafe lengths[index] =
          length >= 0
          ? length
          : copySlowly(
            key, keyLength, hash: hashes[index], snapshot: snapshot, to: target + index &* stride, stride, clock)
      }
    }
  }

  /// First pass: where each key's home bucket is.
  @inline(__always)
  private func fetchBuckets(
    _ keys: UnsafeRawPointer, _ keyLength: Int, _ count: Int, _ hashes: UnsafeMutablePointer<UInt64>,
    _ places: UnsafeMutablePointer<UInt64>
  ) {
    let lookup = Lookup(data: data)
    for index in 0..<count {
      let hash = unsafe shm_hash(keys + index &* keyLength, keyLength, hashSeed)
      let bucket = SubTable.bucket(lookup.directoryWord(hash: hash).word.offset, hash: hash, step: 0)
      unsafe shm_prefetch_l2(data.pointer(bucket))
      unsafe hashes[index] = hash
      unsafe places[index] = UInt64(truncatingIfNeeded: bucket)
    }
  }

  /// Second pass: the entry that each tag points to, most likely the key's; 0 where the home bucket has none.
  @inline(__always)
  private func fetchEntries(
    _ count: Int, _ hashes: UnsafeMutablePointer<UInt64>, _ places: UnsafeMutablePointer<UInt64>
  ) {
    let lookup = Lookup(data: data)
    for index in 0..<count {
      let bucket = unsafe Int(truncatingIfNeeded: places[index])
      let entry = lookup.likelyEntry(hash: unsafe hashes[index], bucket: bucket)
      unsafe places[index] = UInt64(truncatingIfNeeded: entry)
      guard entry != 0 else { continue }
      unsafe shm_prefetch_l2(data.pointer(entry))
      unsafe shm_prefetch_l2(data.pointer(entry &+ 64))
      unsafe shm_prefetch_l2(data.pointer(entry &+ 128))
    }
  }

  @inline(never)
  private func copySlowly(
    _ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, snapshot: UInt64, to target: UnsafeMutableRawPointer,
    _ capacity: Int, _ clock: ExpiryClock
  ) -> Int {
    let entry = unsafe Lookup(data: data).visible(key, keyLength, hash: hash, snapshot: snapshot)
    guard let found = foundEntry(entry, { clock }) else { return QuickCopy.absent }
    let value = unsafe found.value
    if value.count <= capacity, let source = value.baseAddress {
      unsafe target.copyMemory(from: source, byteCount: value.count)
    }
    return value.count
  }
}

import CShims

/// Prefetching for a thread that carries out many requests, one behind the other: the cache misses of the next one's
/// look-up are over when its turn comes. For threads in a section of the table. Nothing is stored.
extension Segment {
  /// To hash a longer key takes longer than the miss that a prefetch saves.
  static let longestPrefetchedKey = 256

  /// Asks the processor for the bucket in which the search for a key begins.
  /// - Returns: the key's hash, for ``prefetchEntry(hash:)``; nil if nothing was asked for.
  public func prefetchBucket(of key: UnsafeRawBufferPointer) -> UInt64? {
    guard let start = key.baseAddress, 1...Self.longestPrefetchedKey ~= key.count else { return nil }
    let hash = unsafe shm_hash(start, key.count, hashSeed)
    unsafe shm_prefetch(data.pointer(homeBucket(hash: hash)))
    return hash
  }

  /// Prefetches the entry that is most likely the key's, as its bucket says. The thread waits for the bucket, unless
  /// that was prefetched about a request ago.
  public func prefetchEntry(hash: UInt64) {
    let entry = Lookup(data: data).likelyEntry(hash: hash, bucket: homeBucket(hash: hash))
    guard entry != 0 else { return }
    unsafe shm_prefetch(data.pointer(entry))
    unsafe shm_prefetch(data.pointer(entry &+ 64))
  }

  @inline(__always)
  func homeBucket(hash: UInt64) -> Int {
    SubTable.bucket(Lookup(data: data).directoryWord(hash: hash).word.offset, hash: hash, step: 0)
  }
}

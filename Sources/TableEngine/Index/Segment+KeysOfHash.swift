import CShims

extension Segment {
  /// The keys of one hash, as the barrier in flight on this thread sees them, expired ones included.
  ///
  /// For structures that name keys by their hash: 8 bytes, however long the key is. Nearly always one key or none; more
  /// only if two share all 64 bits, which may be crafted by who knows the seed. As fast as a lookup.
  public func keysInBarrier(hash: UInt64) -> [[UInt8]] {
    let lookup = Lookup(data: data)
    let directory = lookup.directoryWord(hash: hash).word
    let steps = directory.isDeep ? SubTable.bucketCount : SubTable.window
    var keys: [[UInt8]] = []
    var subTable = directory.offset
    while subTable != 0 {
      for step in 0..<steps {
        let bucket = SubTable.bucket(subTable, hash: hash, step: step)
        collectKeys(hash: hash, bucket: bucket, into: &keys)
        if unsafe shm_match_tag(data.pointer(bucket), 0) != 0 { return keys }
      }
      subTable = directory.isDeep ? Int(data.loadAcquire(subTable + SubTable.link)) : 0
    }
    return keys
  }

  private func collectKeys(hash wanted: UInt64, bucket: Int, into keys: inout [[UInt8]]) {
    var candidates = unsafe shm_match_tag(data.pointer(bucket), BucketWord.tag(hash: wanted))
    while candidates != 0 {
      let entry = BucketWord.offset(data.loadRelaxed(bucket + candidates.trailingZeroBitCount * 8))
      candidates &= candidates - 1
      let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
      if meta.isTombstone { continue }
      let key = unsafe FoundEntry(entry: UnsafeRawPointer(data.pointer(entry)), meta: meta).key
      if unsafe hash(key) == wanted { keys.append(unsafe [UInt8](key)) }
    }
  }
}

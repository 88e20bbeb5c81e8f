import CShims

extension Segment {
  /// The entries whose keys have one hash, as the barrier in flight on this thread sees them, expired ones included. They stay
  /// where they are until it ends.
  ///
  /// For structures that name keys by their hash: 8 bytes, however long the key is. Nearly always one entry or none; more
  /// only if two keys share all 64 bits, and somebody who knows the seed can craft such keys. As fast as a lookup.
  public func entriesInBarrier(hash: UInt64) -> [FoundEntry] {
    let lookup = Lookup(data: data)
    let directory = lookup.directoryWord(hash: hash).word
    let steps = directory.isDeep ? SubTable.bucketCount : SubTable.window
    var entries: [FoundEntry] = []
    var subTable = directory.offset
    while subTable != 0 {
      for step in 0..<steps {
        let bucket = SubTable.bucket(subTable, hash: hash, step: step)
        collectEntries(hash: hash, bucket: bucket, into: &entries)
        if unsafe shm_match_tag(data.pointer(bucket), 0) != 0 { return entries }
      }
      // PAIR publish-link. Other end: Splitter.linkFurther. As in Lookup.newestDeep.
      subTable = directory.isDeep ? Int(data.loadAcquire(subTable + SubTable.link)) : 0
    }
    return entries
  }

  private func collectEntries(hash wanted: UInt64, bucket: Int, into entries: inout [FoundEntry]) {
    var candidates = unsafe shm_match_tag(data.pointer(bucket), BucketWord.tag(hash: wanted))
    while candidates != 0 {
      let entry = BucketWord.offset(data.loadRelaxed(bucket + candidates.trailingZeroBitCount * 8))
      candidates &= candidates - 1
      let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
      if meta.isTombstone { continue }
      let found = unsafe FoundEntry(entry: UnsafeRawPointer(data.pointer(entry)), meta: meta)
      if unsafe hash(found.key) == wanted { entries.append(found) }
    }
  }
}

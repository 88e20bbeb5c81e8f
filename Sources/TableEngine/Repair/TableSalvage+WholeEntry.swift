import CShims

/// Which entry a bucket word leads to, if that can be proven to be whole.
extension TableSalvage {
  /// What a bucket word leads to, if that is whole.
  struct Whole {
    let block: BlockRef
    let meta: EntryMeta
    let hash: UInt64

    var entry: Int { block.offset }
  }

  enum Finding {
    case whole(Whole)
    /// Nothing that was ever committed: the word goes, and nothing is lost.
    case nothing
    case lost(String)
  }

  func find(_ word: UInt64, bucket: Int, in home: Home) -> Finding {
    guard let newest = inspect(BucketWord.offset(word)) else { return .lost("no entry") }
    guard word >> 48 == UInt64(BucketWord.tag(hash: newest.hash)), belongs(newest.hash, home, bucket: bucket) else {
      return .lost("another key's entry")
    }
    var entry = newest.entry
    var kept: Whole? = newest
    // Versions above `committed` are a barrier's that never ended: back to what was before it.
    var circle = CircleDetector()
    while data.loadRelaxed(entry + Entry.version) > committed {
      let older = Int(truncatingIfNeeded: data.loadRelaxed(entry + Entry.prev))
      if older == 0, variant == .rcu { return .nothing }
      if circle.closes(from: entry, to: older) { return .lost("its versions form a circle") }
      kept = inspect(older).flatMap { $0.hash == newest.hash && isSameKey($0, newest) ? $0 : nil }
      guard let kept else { return .lost("changed by a barrier that never ended; its last value is not to be found") }
      entry = kept.entry
    }
    return kept.map(Finding.whole) ?? .nothing
  }

  private func belongs(_ hash: UInt64, _ home: Home, bucket: Int) -> Bool {
    let depth = UInt64(home.word.bits)
    guard depth == 0 || hash >> (64 - depth) == home.prefix else { return false }
    return home.word.isDeep || distance(hash, bucket) < SubTable.window
  }

  func distance(_ hash: UInt64, _ bucket: Int) -> Int {
    (bucket &- Int(truncatingIfNeeded: hash)) & (SubTable.bucketCount - 1)
  }

  /// Nil if no entry can lie here, or its header is impossible.
  private func inspect(_ entry: Int) -> Whole? {
    guard isAligned(entry) else { return nil }
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    guard meta.byteCount <= map.limit - entry, let code = map.code(ofEntry: entry, meta, data) else { return nil }
    guard meta.isPossible, data.loadRelaxed(entry + Entry.version) != 0 else { return nil }
    for position in (meta.keyOffset + meta.keyLength)..<meta.valueOffset where data.byte(entry + position) != 0 {
      return nil
    }
    let hash = unsafe shm_hash(data.pointer(entry + meta.keyOffset), meta.keyLength, hashSeed)
    return Whole(block: BlockRef(offset: entry, code: code), meta: meta, hash: hash)
  }

  /// May its header be read?
  func isAligned(_ entry: Int) -> Bool {
    map.blockPlaces.mayHoldEntry(at: entry)
  }

  func isSameKey(_ one: Whole, _ other: Whole) -> Bool {
    one.meta.keyLength == other.meta.keyLength
      && (unsafe shm_equal(
        data.pointer(one.entry + one.meta.keyOffset), data.pointer(other.entry + other.meta.keyOffset),
        one.meta.keyLength))
  }
}

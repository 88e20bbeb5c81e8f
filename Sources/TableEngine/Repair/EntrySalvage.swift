import CShims

/// Second half of the walk: which entries stay, once the directory and the kinds of the superframes are settled.
extension Salvage {
  mutating func keep(_ home: Home) {
    var keys: [UInt64: [(kept: Kept, word: Int)]] = [:]
    forEachWord(home) { salvage, word, offset, bucket in
      switch salvage.find(word, bucket: bucket, in: home) {
      case .nothing:
        salvage.stores[offset] = BucketWord.deleted
      case .lost(let why):
        salvage.drop(word, at: offset, why)
      case .kept(let kept):
        salvage.enter(kept, word, at: offset, &keys)
      }
    }
    for (_, entries) in keys { for entry in entries { settle(entry.kept, at: entry.word) } }
    clearWay(home, keys)
  }

  private mutating func drop(_ word: UInt64, at offset: Int, _ why: String) {
    dropped += 1
    let name = name(word: word, at: offset)
    lose("\(name): \(why)")
    stores[offset] = BucketWord.deleted
  }

  /// Claims an entry's block, unless its key was met before: then the newer of the two stays.
  private mutating func enter(
    _ kept: Kept, _ word: UInt64, at offset: Int, _ keys: inout [UInt64: [(kept: Kept, word: Int)]]
  ) {
    let known = keys[kept.hash, default: []].firstIndex { isSameKey($0.kept, kept) }
    if let known {
      let other = keys[kept.hash]![known]
      guard data.loadRelaxed(kept.entry + Entry.version) > data.loadRelaxed(other.kept.entry + Entry.version) else {
        stores[offset] = BucketWord.deleted
        return
      }
      stores[other.word] = BucketWord.deleted
      map.disclaim(other.kept.entry, byteCount: other.kept.meta.byteCount)
      keys[kept.hash]!.remove(at: known)
    }
    guard map.claim(kept.entry, byteCount: kept.meta.byteCount) else {
      return drop(word, at: offset, "its entry lies where another one is")
    }
    if kept.entry != BucketWord.offset(word) {
      stores[offset] = BucketWord.make(tag: BucketWord.tag(hash: kept.hash), offset: kept.entry)
    }
    keys[kept.hash, default: []].append((kept, offset))
  }

  /// What is behind the newest version goes, and so do tombstones: with nobody left who reads an older version,
  /// absent is absent.
  private mutating func settle(_ kept: Kept, at offset: Int) {
    if kept.meta.isTombstone {
      map.disclaim(kept.entry, byteCount: kept.meta.byteCount)
      lateStores.append((offset, BucketWord.deleted))
    } else {
      keyCount += 1
      if data.loadRelaxed(kept.entry + Entry.prev) != 0 { lateStores.append((kept.entry + Entry.prev, 0)) }
    }
  }

  /// A search ends at a bucket with an empty word: none may lie on the way to a key.
  private mutating func clearWay(_ home: Home, _ keys: [UInt64: [(kept: Kept, word: Int)]]) {
    var passed: Set<Int> = []
    for (hash, entries) in keys {
      for entry in entries {
        guard let place = home.subTables.firstIndex(where: { (0..<SubTable.byteCount).contains(entry.word - $0) })
        else { continue }
        for earlier in home.subTables[..<place] {
          for bucket in 0..<SubTable.bucketCount { passed.insert(earlier + bucket * SubTable.bucketBytes) }
        }
        let subTable = home.subTables[place]
        let bucket = (entry.word - subTable) / SubTable.bucketBytes
        for step in 0..<distance(hash, bucket) { passed.insert(SubTable.bucket(subTable, hash: hash, step: step)) }
      }
    }
    for bucket in passed {
      for offset in stride(from: bucket, to: bucket + SubTable.bucketBytes, by: 8)
      where data.loadRelaxed(offset) == BucketWord.empty {
        stores[offset] = BucketWord.deleted
      }
    }
    for subTable in home.subTables {
      for offset in stride(from: subTable, to: subTable + SubTable.byteCount, by: 8) {
        let word = data.loadRelaxed(offset)
        if !BucketWord.isLive(word), word != BucketWord.empty, word != BucketWord.deleted {
          stores[offset] = BucketWord.deleted
        }
      }
    }
  }
}

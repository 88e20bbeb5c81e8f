import CShims

/// Second half of the walk, sub-table by sub-table: which entries stay, once the directory and the kinds of the superframes are
/// known. Of two entries of one key the newer one stays.
struct SubTableSalvage {
  let salvage: TableSalvage

  private typealias Found = (kept: TableSalvage.Whole, word: Int)
  private var data: MappedMemory { salvage.data }

  func run(_ home: TableSalvage.Home) {
    var keys: [UInt64: [Found]] = [:]
    salvage.forEachWord(home) { word, offset, bucket in
      switch salvage.find(word, bucket: bucket, in: home) {
      case .nothing:
        salvage.stores[offset] = BucketWord.deleted
      case .lost(let why):
        drop(word, at: offset, why)
      case .whole(let kept) where salvage.isVoucher(kept):
        drop(word, at: offset, "it says of the others what may not hold any more")
      case .whole(let kept):
        enter(kept, word, at: offset, &keys)
      }
    }
    for (_, entries) in keys { for entry in entries { plan(entry.kept, at: entry.word) } }
    clearWay(home, keys)
  }

  private func drop(_ word: UInt64, at offset: Int, _ why: String) {
    salvage.dropped += 1
    let name = salvage.name(word: word, at: offset)
    salvage.lose("\(name): \(why)")
    salvage.stores[offset] = BucketWord.deleted
  }

  /// Enters an entry's block, unless its key was met before: then the newer of the two stays.
  private func enter(
    _ kept: TableSalvage.Whole, _ word: UInt64, at offset: Int, _ keys: inout [UInt64: [Found]]
  ) {
    let known = keys[kept.hash, default: []].firstIndex { salvage.isSameKey($0.kept, kept) }
    if let known {
      let other = keys[kept.hash]![known]
      guard data.loadRelaxed(kept.entry + Entry.version) > data.loadRelaxed(other.kept.entry + Entry.version) else {
        salvage.stores[offset] = BucketWord.deleted
        return
      }
      salvage.stores[other.word] = BucketWord.deleted
      salvage.map.remove(other.kept.block)
      keys[kept.hash]!.remove(at: known)
    }
    guard salvage.map.enter(kept.block) else {
      return drop(word, at: offset, "its entry lies where another one is")
    }
    if kept.entry != BucketWord.offset(word) {
      salvage.revivesOlder = true
      salvage.stores[offset] = BucketWord.make(tag: BucketWord.tag(hash: kept.hash), offset: kept.entry)
    }
    keys[kept.hash, default: []].append((kept, offset))
  }

  /// What is behind the newest version goes, and so do tombstones: no reader of an older version is left, and without
  /// its tombstone a key is as absent as with it.
  private func plan(_ kept: TableSalvage.Whole, at offset: Int) {
    if kept.meta.isTombstone {
      salvage.map.remove(kept.block)
      salvage.lateStores.append((offset, BucketWord.deleted))
    } else {
      salvage.keyCount += 1
      if data.loadRelaxed(kept.entry + Entry.prev) != 0 { salvage.lateStores.append((kept.entry + Entry.prev, 0)) }
    }
  }

  /// A search ends at a bucket with an empty word: none may lie on the way to a key.
  private func clearWay(_ home: TableSalvage.Home, _ keys: [UInt64: [Found]]) {
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
        for step in 0..<salvage.distance(hash, bucket) {
          passed.insert(SubTable.bucket(subTable, hash: hash, step: step))
        }
      }
    }
    for bucket in passed {
      for offset in stride(from: bucket, to: bucket + SubTable.bucketBytes, by: 8)
      where data.loadRelaxed(offset) == BucketWord.empty {
        salvage.stores[offset] = BucketWord.deleted
      }
    }
    for subTable in home.subTables {
      for offset in stride(from: subTable, to: subTable + SubTable.byteCount, by: 8) {
        let word = data.loadRelaxed(offset)
        if !BucketWord.namesEntry(word), word != BucketWord.empty, word != BucketWord.deleted {
          salvage.stores[offset] = BucketWord.deleted
        }
      }
    }
  }
}

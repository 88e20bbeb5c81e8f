import CShims

extension Writer {
  /// Stores a value under a key, as part of the transaction in flight.
  ///
  /// - Throws: `full`, with nothing of this operation changed but perhaps a split that made room.
  func put(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes
  ) throws(EngineError) {
    let meta = EntryMeta(keyLength: key.count, valueLength: value.count, attributes)
    try reserve(8)
    let location = unsafe try locateWithRoom(key, hash: hash)
    let block = try allocate(byteCount: meta.byteCount)
    let previous = BucketWord.offset(location.word)
    unsafe data.storeEntry(
      block.offset, meta, attributes, key, value, version: version, previous: variant == .rcu ? previous : 0)
    publish(block.offset, hash: hash, at: location)
    if previous == 0 || EntryMeta(raw: data.loadRelaxed(previous + Entry.meta)).isTombstone { keyDelta += 1 }
    unsafe log.append(.set, key: key, version: version)
  }

  /// Removes a key, as part of the transaction in flight.
  /// - Returns: whether there was anything to remove.
  func remove(_ key: UnsafeRawBufferPointer, hash: UInt64) throws(EngineError) -> Bool {
    let location = unsafe lookup.locate(key.baseAddress!, key.count, hash: hash)
    let previous = BucketWord.offset(location.word)
    guard previous != 0, !EntryMeta(raw: data.loadRelaxed(previous + Entry.meta)).isTombstone else { return false }
    try reserve(8)
    if variant == .rwlock {
      journal.append(.put, offset: location.wordOffset, value: location.word)
      data.storeRelease(location.wordOffset, BucketWord.deleted)
    } else {
      let meta = EntryMeta(keyLength: key.count, valueLength: 0, type: 0, tombstone: true)
      let block = try allocate(byteCount: meta.byteCount, tombstone: true)
      unsafe data.storeEntry(
        block.offset, meta, ValueAttributes(), key, UnsafeRawBufferPointer(start: nil, count: 0), version: version,
        previous: previous)
      publish(block.offset, hash: hash, at: location)
    }
    keyDelta -= 1
    unsafe log.append(.remove, key: key, version: version)
    return true
  }

  /// Where the key is or may go, after splitting its sub-table as often as that takes.
  private func locateWithRoom(_ key: UnsafeRawBufferPointer, hash: UInt64) throws(EngineError) -> Location {
    while true {
      let location = unsafe lookup.locate(key.baseAddress!, key.count, hash: hash)
      if location.wordOffset != 0 || location.vacancy != 0 { return location }
      try makeRoom(hash: hash, location)
      try reserve(8)
    }
  }

  /// PAIR publish-entry. Other end: Lookup.match. Release: a reader that finds the offset must find the entry whole.
  @inline(__always)
  private func publish(_ entry: Int, hash: UInt64, at location: Location) {
    let offset = location.wordOffset != 0 ? location.wordOffset : location.vacancy
    let old = location.wordOffset != 0 ? location.word : data.loadRelaxed(offset)
    journal.append(.put, offset: offset, value: old)
    let word = BucketWord.make(tag: BucketWord.tag(hash: hash), offset: entry)
    data.storeRelease(offset, word)
  }
}

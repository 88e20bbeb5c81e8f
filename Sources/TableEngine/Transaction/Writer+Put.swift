import CShims

/// What is stored with a value besides its bytes.
public struct ValueAttributes: Sendable, Equatable {
  /// The typed API's code for what the bytes are; the engine only keeps it.
  public var type: UInt8
  /// Nanoseconds since 1970 from which on the value is gone; 0 = never.
  public var expiry: UInt64
  /// Layout or schema fingerprint, 0 = none.
  public var fingerprint: UInt64
  /// Base-2 logarithm of the value's alignment, 0 to 4.
  public var alignmentShift: Int

  public init(type: UInt8 = 0, expiry: UInt64 = 0, fingerprint: UInt64 = 0, alignmentShift: Int = 0) {
    self.type = type
    self.expiry = expiry
    self.fingerprint = fingerprint
    self.alignmentShift = alignmentShift
  }
}

extension Writer {
  /// Stores a value under a key, as part of the transaction in flight.
  ///
  /// - Throws: `full`, with nothing of this operation changed but perhaps a split that made room.
  func put(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes
  ) throws(EngineError) {
    let meta = EntryMeta(
      keyLength: key.count, valueLength: value.count, type: attributes.type, hasExpiry: attributes.expiry != 0,
      hasFingerprint: attributes.fingerprint != 0, alignmentShift: attributes.alignmentShift)
    try reserve(8)
    let location = unsafe try locateWithRoom(key, hash: hash)
    let block = try allocate(byteCount: meta.byteCount)
    let previous = BucketWord.offset(location.word)
    unsafe writeEntry(
      block.offset, meta, attributes, key, value, previous: variant == .rcu ? previous : 0)
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
      unsafe writeEntry(
        block.offset, meta, ValueAttributes(), key, UnsafeRawBufferPointer(start: nil, count: 0), previous: previous)
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

  private func writeEntry(
    _ entry: Int, _ meta: EntryMeta, _ attributes: ValueAttributes, _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer, previous: Int
  ) {
    data.storeRelaxed(entry + Entry.version, version)
    data.storeRelaxed(entry + Entry.prev, UInt64(previous))
    data.storeRelaxed(entry + Entry.meta, meta.raw)
    if meta.hasExpiry { data.storeRelaxed(entry + meta.expiryOffset, attributes.expiry) }
    if meta.hasFingerprint { data.storeRelaxed(entry + meta.fingerprintOffset, attributes.fingerprint) }
    unsafe data.copy(key.baseAddress!, count: key.count, to: entry + meta.keyOffset)
    let keyEnd = meta.keyOffset + key.count
    if meta.valueOffset > keyEnd { data.zero(entry + keyEnd, count: meta.valueOffset - keyEnd) }
    if value.count > 0 { unsafe data.copy(value.baseAddress!, count: value.count, to: entry + meta.valueOffset) }
  }

  /// PAIR publish-entry. Other end: Lookup.match. Release: a reader that finds the offset must find the entry whole.
  private func publish(_ entry: Int, hash: UInt64, at location: Location) {
    let offset = location.wordOffset != 0 ? location.wordOffset : location.vacancy
    let old = location.wordOffset != 0 ? location.word : data.loadRelaxed(offset)
    #if MUTANT_EFFECT_BEFORE_RECORD
      data.storeRelease(offset, BucketWord.make(tag: BucketWord.tag(hash: hash), offset: entry))
    #endif
    journal.append(.put, offset: offset, value: old)
    let word = BucketWord.make(tag: BucketWord.tag(hash: hash), offset: entry)
    data.storeRelease(offset, word)
  }
}

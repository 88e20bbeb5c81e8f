public import CShims

extension Segment {
  /// Gives `body` a key's newest committed value, in the cases of ``copyQuickly(_:_:to:_:)`` and if it is of this type
  /// (nil: of any): in place, or for those who must watch out for a writer a copy.
  ///
  /// Memory that `body` sees is kept from reuse until it returns: it must not wait, nor use the table.
  /// - Returns: `.some(nil)` if the key is absent; nil where ``withValue(_:_:timeoutNanoseconds:clock:_:)`` must decide,
  ///   also if `body` says nil.
  @inlinable @inline(__always)
  public func readQuickly<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, type: UInt8?, _ body: (UnsafeRawBufferPointer) -> R?
  ) -> R?? {
    guard readsLightly else { return unsafe readCopy(key, keyLength, type, body) }
    guard let slot = unsafe quickSlot(keyLength) else { return nil }
    let hash = unsafe shm_hash(key, keyLength, hashSeed)
    let snapshot = unsafe announce(slot, fenced: false)
    let result = unsafe readAnnounced(key, keyLength, hash: hash, snapshot: snapshot, type, body)
    unsafe shm_store_release(slot, SlotWord.idle)
    return result
  }

  /// Between the announcement and its end. The pairs are those of ``Lookup``.
  @inlinable @inline(__always)
  func readAnnounced<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, snapshot: UInt64, _ type: UInt8?,
    _ body: (UnsafeRawBufferPointer) -> R?
  ) -> R?? {
    let entry = candidate(hash: hash)
    if entry == QuickCopy.absent { return .some(nil) }
    guard entry >= 0,
      let value = unsafe plainValue(key, keyLength, entry: entry, snapshot: snapshot, type: type),
      let result = unsafe body(value)
    else { return nil }
    return result
  }

  /// The same for those who must watch out for a writer: `body` sees a copy, which nobody changes any more.
  @inlinable
  func readCopy<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, _ type: UInt8?, _ body: (UnsafeRawBufferPointer) -> R?
  ) -> R?? {
    // As much as the stack takes for sure; a longer value is left to the general read.
    unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { copy -> R?? in
      let target = copy.baseAddress!
      let length = unsafe copyWatched(key, keyLength, type: type, to: target, copy.count)
      if length == QuickCopy.absent { return .some(nil) }
      guard length >= 0, length <= copy.count,
        let result = unsafe body(UnsafeRawBufferPointer(start: target, count: length))
      else { return nil }
      return result
    }
  }
}

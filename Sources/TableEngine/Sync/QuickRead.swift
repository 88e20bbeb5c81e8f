public import CShims

extension Segment {
  /// Gives `body` a key's newest committed value in place, in the cases of ``copyQuickly(_:_:to:_:)`` and if it is of
  /// this type (nil: of any); nil otherwise, and then ``withValue(_:_:timeoutNanoseconds:clock:_:)`` knows.
  ///
  /// Memory that `body` sees is kept from reuse until it returns: it must not wait, nor use the table.
  @inlinable @inline(__always)
  public func readQuickly<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, type: UInt8?, _ body: (UnsafeRawBufferPointer) -> R?
  ) -> R? {
    guard readsDirectly else { return nil }
    let record = unsafe shm_thread_home(id)
    guard UInt(bitPattern: keyLength &- 1) < 65_536, unsafe record.pointee.segment == id,
      unsafe record.pointee.readDepth | record.pointee.inBarrier == 0, let slot = unsafe record.pointee.slot
    else { return nil }
    let hash = unsafe shm_hash(key, keyLength, hashSeed)
    let snapshot = unsafe announce(slot)
    let result = unsafe readAnnounced(key, keyLength, hash: hash, snapshot: snapshot, type, body)
    unsafe shm_store_release(slot, SlotWord.idle)
    return result
  }

  /// Between the announcement and its end. The pairs are those of ``Lookup``.
  @inlinable @inline(__always)
  func readAnnounced<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, snapshot: UInt64, _ type: UInt8?,
    _ body: (UnsafeRawBufferPointer) -> R?
  ) -> R? {
    let entry = candidate(hash: hash)
    guard entry > 0 else { return nil }
    let meta = EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta))
    guard meta.isPlain(keyLength: keyLength, type: type), data.loadRelaxed(entry &+ Entry.version) <= snapshot,
      unsafe shm_equal(data.pointer(entry &+ Entry.headerBytes), key, keyLength)
    else { return nil }
    return unsafe body(
      UnsafeRawBufferPointer(
        start: data.pointer(entry &+ Entry.headerBytes &+ keyLength), count: meta.valueLength))
  }
}

public import CShims

extension Segment {
  /// Gives `body` a key's newest committed value, in the cases of ``copyQuickly(_:_:to:_:)`` and if it is of this type
  /// (nil: of any): in place, or as a copy for a reader that needs more than a plain store against a writer.
  ///
  /// Memory that `body` sees is kept from reuse until it returns: it must not wait. To this thread it is a read section: a
  /// read in `body` joins it, and a barrier is refused (G11).
  /// - Returns: `.some(nil)` if the key is absent; nil where ``withValue(_:_:timeoutNanoseconds:clock:_:)`` must decide,
  ///   also if `body` says nil.
  /// - Parameter known: the key's hash, if the caller has it already.
  @inlinable @inline(__always)
  public func readQuickly<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, hash known: UInt64? = nil, type: UInt8?,
    _ body: (UnsafeRawBufferPointer) -> R?
  ) -> R?? {
    guard readsLightly else { return unsafe readCopy(key, keyLength, type, body) }
    guard let slot = unsafe quickSlot(keyLength) else { return nil }
    let record = unsafe shm_thread_home(id)
    let hash = unsafe known ?? shm_hash(key, keyLength, hashSeed)
    let snapshot = unsafe announce(slot, fenced: false)
    unsafe enter(record, snapshot, now: SectionTime.notYetRead)
    let result = unsafe readAnnounced(key, keyLength, hash: hash, snapshot: snapshot, type, body)
    unsafe leave(record, slot)
    return result
  }

  /// As ``readQuickly(_:_:hash:type:_:)``, in a participant's section, at its snapshot, in either variant: `body` sees the value in place, and what
  /// it sees stays until the section ends.
  ///
  /// Announces nothing. The section has done so: until it ends, no process reuses the value or takes its versions
  /// apart.
  /// - Returns: as that, with nil where ``find(_:_:_:)`` must decide, for observers and in a child that was forked in the section always.
  @inlinable @inline(__always)
  public func readQuickly<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, in section: ReadSection, type: UInt8?,
    _ body: (UnsafeRawBufferPointer) -> R?
  ) -> R?? {
    guard section.isInPlace, isOfThisProcess, Entry.isKeyLength(keyLength) else { return nil }
    let hash = unsafe shm_hash(key, keyLength, hashSeed)
    return unsafe readAnnounced(key, keyLength, hash: hash, snapshot: section.snapshot, type, body)
  }

  /// Notes that its thread is in an outermost section or single read at this snapshot, and by which instant that judges
  /// expiry. Without it a read of the same table in a value's initialiser would announce itself in the same slot, and
  /// withdraw the outer read's announcement with its own: the bytes that the initialiser goes on to decode could be reused
  /// meanwhile.
  @inlinable @inline(__always)
  func enter(_ record: UnsafeMutablePointer<shm_thread_record>, _ snapshot: UInt64, now: UInt64) {
    unsafe record.pointee.readDepth = 1
    unsafe record.pointee.snapshot = snapshot
    unsafe record.pointee.now = now
  }

  /// Ends what ``enter(_:_:now:)`` began. Not in a child that was forked meanwhile, by a value's initialiser: the slot is the parent's, which
  /// still reads.
  @inlinable @inline(__always)
  func leave(_ record: UnsafeMutablePointer<shm_thread_record>, _ slot: UnsafeMutableRawPointer) {
    guard _fastPath(isOfThisProcess) else { return }
    unsafe record.pointee.readDepth = 0
    // PAIR slot-scan. Other end: ReaderScan.take. Release: our last look comes before, or a free pass could reuse what we still read.
    unsafe shm_store_release(slot, SlotWord.idle)
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

  /// As ``readQuickly(_:_:hash:type:_:)``, for a reader that needs more than a plain store against a writer: `body` sees a copy, which nobody
  /// changes any more.
  @inlinable
  func readCopy<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, _ type: UInt8?, _ body: (UnsafeRawBufferPointer) -> R?
  ) -> R?? {
    // As much as the stack takes for sure; a longer value is left to the general read.
    unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { copy -> R?? in
      let target = copy.baseAddress!
      let length = unsafe copyForOtherReader(key, keyLength, type: type, to: target, copy.count)
      if length == QuickCopy.absent { return .some(nil) }
      guard length >= 0, length <= copy.count,
        let result = unsafe body(UnsafeRawBufferPointer(start: target, count: length))
      else { return nil }
      return result
    }
  }
}

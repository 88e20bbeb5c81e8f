public import CShims
import SharedMemory

extension Segment {
  /// Finds a key and runs `body` on its newest committed value.
  ///
  /// Waits for no writer in the RCU variant (G5). `body` must copy what it wants to keep. A read in it joins this one, and a
  /// barrier in it is refused (G11).
  /// - Parameter timeoutNanoseconds: for the rwlock variant's wait for a barrier, and an observer's attempts.
  /// - Returns: nil if the key is absent or expired.
  @inlinable @inline(__always)
  public func withValue<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, timeoutNanoseconds: UInt64, clock: ExpiryClock,
    _ body: (FoundEntry) -> R
  ) throws(EngineError) -> R? {
    guard readsDirectly, Entry.isKeyLength(keyLength), let record = unsafe shm_thread_quick_find(id),
      unsafe shm_thread_is_outside(record)
    else { return try unsafe withValueIndirectly(key, keyLength, timeoutNanoseconds, clock, body) }
    let slot = unsafe shm_thread_slot(record)
    let hash = unsafe shm_hash(key, keyLength, hashSeed)
    let snapshot = unsafe announce(slot, fenced: fenced)
    unsafe enter(record, snapshot, now: SectionTime.notYetRead)
    let entry = unsafe Lookup(data: data).visible(key, keyLength, hash: hash, snapshot: snapshot)
    var result: R?
    if entry != 0 {
      let meta = EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta))
      let found = unsafe FoundEntry(entry: UnsafeRawPointer(data.pointer(entry)), meta: meta)
      if !meta.isTombstone, !meta.hasExpiry || hasNotExpired(found, clock) { result = body(found) }
    }
    unsafe leave(record, slot)
    return result
  }

  /// Announces a pending reader, and loads its snapshot.
  ///
  /// PAIR heavy-light. Other end: ReaderScan.take. The announcement must be visible before the second load of
  /// `committed`: by the compiler's order alone where membarrier reaches this process, else by an exchange.
  /// PAIR pend-committed. Other end: CommitPoint.publish. Acquire, twice: the first load gives a reclaiming process its
  /// bound, the second is the snapshot. If the first were the snapshot, versions that it needs could have been
  /// reclaimed before the announcement was visible. The second is sequentially consistent: a mere acquire may pass the
  /// exchange on a processor that has weaker loads for it.
  @inlinable @inline(__always)
  func announce(_ slot: UnsafeMutableRawPointer, fenced: Bool) -> UInt64 {
    let bound = data.loadAcquire(DataLayout.committed)
    if fenced {
      _ = unsafe shm_exchange_seqcst(slot, bound)
    } else {
      unsafe shm_store_release(slot, bound)
      shm_fence_compiler()
    }
    return data.loadSequential(DataLayout.committed)
  }

  @usableFromInline @inline(never)
  func hasNotExpired(_ found: FoundEntry, _ clock: ExpiryClock) -> Bool {
    // That of the section: a read nested in its closure judges by the same one.
    !found.isExpired(at: instant(clock))
  }

  /// As ``withValue(_:_:timeoutNanoseconds:clock:_:)``, for a first use, a nested read, the rwlock variant and observers.
  @usableFromInline @inline(never)
  func withValueIndirectly<R>(
    _ key: UnsafeRawPointer, _ keyLength: Int, _ timeoutNanoseconds: UInt64, _ clock: ExpiryClock,
    _ body: (FoundEntry) -> R
  ) throws(EngineError) -> R? {
    var retry = ObserverRetry()
    while true {
      let section = try beginRead(timeoutNanoseconds: timeoutNanoseconds)
      defer { endRead(section) }
      do throws(EngineError) {
        return try unsafe find(UnsafeRawBufferPointer(start: key, count: keyLength), section, clock).map(body)
      } catch {
        guard case .snapshotTooOld = error, section.mayStartOver else { throw error }
        try retry.countAttempt(timeoutNanoseconds: timeoutNanoseconds)
      }
    }
  }
}

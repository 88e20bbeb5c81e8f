import CShims

extension Segment {
  /// Visits the keys of the sub-table at the cursor, as the section sees them, and moves the cursor behind it.
  ///
  /// A key that is present throughout is visited exactly once, however the directory splits between two calls: the
  /// cursor is the end of the prefix that was visited, and of a sub-table that begins before the cursor only what lies
  /// behind it counts. Such a one is met while a split stores its directory words or undo takes them back, or when the
  /// writer died between two of them.
  /// - Parameter body: runs on each entry, expired ones left out; returns false to stop early (the cursor moves on).
  /// - Throws: for an observer `snapshotTooOld` and `damaged`; `forked` in a child that was forked in the section.
  public func scan(
    _ cursor: inout ScanCursor, _ section: ReadSection, _ clock: ExpiryClock, _ body: (FoundEntry) -> Bool
  ) throws(EngineError) {
    try checkOfThisProcess()
    if access == .observer {
      // An observer's section always holds an observation.
      return try section.observation!.scan(&cursor) { found in !isPresent(found) { clock } || body(found) }
    }
    scan(&cursor, snapshot: section.snapshot, clock, body)
  }

  /// As ``scan(_:_:_:_:)``, for the barrier in flight on this thread, its own changes included.
  ///
  /// A barrier of some keys visits those that it has locked.
  /// - Throws: what ``beginRead(timeoutNanoseconds:now:)`` throws, in a barrier of some keys; `forked`.
  public func scanInBarrier(
    _ cursor: inout ScanCursor, _ clock: ExpiryClock, _ body: (FoundEntry) -> Bool
  ) throws(EngineError) {
    let record = try unsafe barriers.record()
    if let buffer = unsafe KeyedBarriers.buffer(record) {
      return try unsafe keyedBarriers.scan(&cursor, in: buffer, record, clock, body)
    }
    scan(&cursor, snapshot: participant!.state.version, clock, body)
  }

  func scan(_ cursor: inout ScanCursor, snapshot: UInt64, _ clock: ExpiryClock, _ body: (FoundEntry) -> Bool) {
    guard let position = cursor.position else { return }
    let lookup = Lookup(data: data)
    let directory = lookup.directoryWord(hash: position).word
    cursor.advance(past: position, depth: directory.bits)
    let isPartial = !ScanCursor.isBeginning(position, depth: directory.bits)
    var subTable = directory.offset
    while subTable != 0 {
      for slot in 0..<Self.scannedSlots {
        prefetchEntry(of: subTable, slot + Self.prefetchDistance)
        let newest = BucketWord.offset(data.loadAcquire(subTable + slot * 8))
        guard newest != 0,
          let found = foundEntry(lookup.visible(from: newest, snapshot: snapshot), { clock })
        else { continue }
        if isPartial, unsafe hash(found.key) < position { continue }
        if !body(found) { return }
      }
      // PAIR publish-link. Other end: Splitter.linkFurther. As in Lookup.newestDeep.
      subTable = directory.isDeep ? Int(data.loadAcquire(subTable + SubTable.link)) : 0
    }
  }
}

extension Segment {
  private static let scannedSlots = SubTable.bucketCount * 8
  /// Far enough ahead that an entry has come from memory when its turn is there: entries lie in the order of their making, so that
  /// each is a cache miss.
  private static let prefetchDistance = 16

  private func prefetchEntry(of subTable: Int, _ slot: Int) {
    guard slot < Self.scannedSlots else { return }
    // Only an address: whether the entry is still there is asked when the scan comes to it.
    let entry = BucketWord.offset(data.loadRelaxed(subTable + slot * 8))
    if entry != 0 { unsafe shm_prefetch(data.pointer(entry)) }
  }
}

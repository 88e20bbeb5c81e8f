import CShims

extension Segment {
  /// A cursor behind everything that is committed by now. Never blocks.
  public func changeCursor() -> ChangeCursor {
    ChangeReader(data: data, byteCount: geometry.logBytes).cursorAtEnd()
  }

  /// Reads on in the change log: at most `limit` records are looked at, of which those are copied whose key `isWanted`.
  ///
  /// Never waits and stores nothing; works alike for participants and observers (G8). Bounded: one call looks at no more
  /// than `limit` records.
  /// - Throws: `damaged` if the log contradicts itself, `busy` if it is overwritten faster than a record is read, `forked`.
  public func readChanges(
    _ cursor: inout ChangeCursor, limit: Int = 1024, where isWanted: (UnsafeRawBufferPointer) -> Bool = { _ in true }
  ) throws(EngineError) -> ChangeBatch {
    try checkOfThisProcess()
    return try unsafe ChangeReader(data: data, byteCount: geometry.logBytes).read(&cursor, limit, isWanted)
  }
}

/// The change log's other end, for everyone who maps *data*.
///
/// `committed` is loaded before the end. A record before that end whose version is at most `committed` was committed
/// and is never undone, so only the ring's wrapping can change it, and that moves the tail first. So a record is read
/// in any state, each length once into a local and within bounds, and believed only if the tail, loaded again behind a
/// fence, has not passed it: `Models/log.pml`. What does not make sense although it was not overwritten is damage.
struct ChangeReader {
  let data: MappedMemory
  let byteCount: Int

  private static let attempts = 1000

  private enum Step {
    case record(size: Int)
    case padding(size: Int)
    /// Of a barrier that is not committed, or was not when we began.
    case future
    case overrun
  }

  private var log: ChangeLog { ChangeLog(data: data, byteCount: byteCount) }
  private func place(_ position: UInt64) -> Int { log.place(position) }

  func cursorAtEnd() -> ChangeCursor {
    let sequence = data.loadAcquire(DataLayout.wseq)
    var cursor = ChangeCursor(after: data.loadAcquire(DataLayout.committed))
    cursor.position = data.loadRelaxed(DataLayout.logEndPosition)
    cursor.ordinal = data.loadRelaxed(DataLayout.logEndOrdinal)
    // PAIR wseq-data. Other end: WriterState.bumpSequence. If no barrier ran meanwhile, the end is that of this version; else
    // the first step looks for it from the tail on.
    shm_fence_acquire()
    cursor.isPlaced = sequence & 1 == 0 && data.loadRelaxed(DataLayout.wseq) == sequence
    return cursor
  }

  func read(
    _ cursor: inout ChangeCursor, _ limit: Int, _ isWanted: (UnsafeRawBufferPointer) -> Bool
  ) throws(EngineError) -> ChangeBatch {
    var batch = ChangeBatch()
    // PAIR pend-committed. Other end: CommitPoint.publish. Before the end, or an aborted record that was covered a
    // moment ago would pass for one of a version committed since.
    batch.newest = data.loadAcquire(DataLayout.committed)
    if !cursor.isPlaced { try begin(&cursor, &batch) }
    // PAIR log-end. Other end: ChangeLog.advance. Acquire: the records that it covers.
    let end = data.loadAcquire(DataLayout.logEndPosition)
    if cursor.position > end || end - cursor.position > UInt64(byteCount) {
      // The tail has passed the cursor, or the cursor is behind the end, which only a repair of the log can do.
      guard cursor.position > end || hasPassed(cursor.position) else {
        throw .damaged("its change log is longer than it can be")
      }
      try skip(&cursor, &batch)
      return batch
    }
    guard cursor.position % 16 == 0 else { throw .damaged("its change log has a record at \(cursor.position)") }
    if cursor.position == end {
      finish(&cursor, &batch)
      return batch
    }
    let key = UnsafeMutableRawBufferPointer.allocate(byteCount: Entry.maximumKeyLength, alignment: 16)
    defer { unsafe key.deallocate() }
    for _ in 0..<max(1, limit) {
      guard cursor.position != end else {
        finish(&cursor, &batch)
        return batch
      }
      var change: LoggedChange?
      switch try unsafe step(&cursor, end, batch.newest, key, isWanted, &change) {
      case .record(let size):
        if let change { batch.changes.append(change) }
        cursor.position += UInt64(size)
        cursor.ordinal &+= 1
      case .padding(let size):
        cursor.position += UInt64(size)
      case .future:
        finish(&cursor, &batch)
        return batch
      case .overrun:
        // What was read before the gap is handed over before it.
        if batch.changes.isEmpty { try skip(&cursor, &batch) }
        return batch
      }
    }
    return batch
  }

  /// All that is committed by `newest` has been looked at.
  private func finish(_ cursor: inout ChangeCursor, _ batch: inout ChangeBatch) {
    batch.isAtEnd = true
    cursor.isSearching = false
    cursor.readVersion = max(cursor.readVersion, batch.newest)
  }

  /// Looks at the record at the cursor.
  private func step(
    _ cursor: inout ChangeCursor, _ end: UInt64, _ newest: UInt64, _ key: UnsafeMutableRawBufferPointer,
    _ isWanted: (UnsafeRawBufferPointer) -> Bool, _ change: inout LoggedChange?
  ) throws(EngineError) -> Step {
    let position = place(cursor.position)
    let version = data.loadRelaxed(position + ChangeLog.version)
    let header = data.loadRelaxed(position + ChangeLog.header)
    if version > newest { return hasPassed(cursor.position) ? .overrun : .future }
    let size = Int(ChangeLog.byteCount(header))
    let room = min(UInt64(byteCount - (position - DataLayout.log)), end - cursor.position)
    var keyLength = 0
    var flaw: String?
    if size < 16 || size % 16 != 0 || UInt64(size) > room {
      flaw = "a record of \(size) bytes"
    } else if let operation = ChangeLog.operation(header) {
      if operation == .padding {
        return hasPassed(cursor.position) ? .overrun : .padding(size: size)
      }
      let (length, isPossible) = log.keyLength(ofRecordAt: position, byteCount: size)
      if isPossible {
        keyLength = Int(length)
        unsafe shm_copy_racy(key.baseAddress!, data.pointer(position + ChangeLog.headerBytes), keyLength)
      } else {
        flaw = "a key of \(length) bytes"
      }
    } else {
      flaw = "an unknown operation"
    }
    if hasPassed(cursor.position) { return .overrun }
    if let flaw { throw .damaged("its change log has \(flaw)") }
    cursor.ordinal = Self.expand(ChangeLog.lowOrdinal(header), near: cursor.ordinal)
    if version > cursor.start {
      cursor.isSearching = false
      // Of its own version more may follow.
      cursor.readVersion = max(cursor.readVersion, version &- 1)
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: key[..<keyLength])
      if unsafe isWanted(bytes) {
        change = LoggedChange(
          isRemoval: ChangeLog.operation(header) == .remove, version: version, key: unsafe [UInt8](bytes))
      }
    }
    return .record(size: size)
  }

  /// Whether the record at a position may have been overwritten while we looked at it.
  private func hasPassed(_ position: UInt64) -> Bool {
    // PAIR log-tail. Other end: ChangeLog.pushOut. Behind the fence, or a record that is overwritten meanwhile would be
    // compared with the tail of before.
    shm_fence_acquire()
    return data.loadRelaxed(DataLayout.logTailPosition) > position
  }

  /// The ordinal that has these low bits and is nearest.
  private static func expand(_ low: UInt64, near ordinal: UInt64) -> UInt64 {
    let forward = (low &- ordinal) & ChangeLog.ordinalMask
    return forward <= ChangeLog.ordinalMask / 2 ? ordinal &+ forward : ordinal &- (ChangeLog.ordinalMask + 1 - forward)
  }

  // MARK: - The tail

  private struct Oldest {
    var position: UInt64
    var ordinal: UInt64
    /// nil if the log is empty.
    var version: UInt64?
  }

  /// The oldest record there is.
  private func oldest() throws(EngineError) -> Oldest {
    for _ in 0..<Self.attempts {
      let position = data.loadAcquire(DataLayout.logTailPosition)
      let end = data.loadAcquire(DataLayout.logEndPosition)
      guard position % 16 == 0 else { throw .damaged("its change log begins at \(position)") }
      if position > end || hasPassed(position) { continue }
      if position == end {
        return Oldest(position: position, ordinal: data.loadRelaxed(DataLayout.logEndOrdinal), version: nil)
      }
      let version = data.loadRelaxed(place(position) + ChangeLog.version)
      let header = data.loadRelaxed(place(position) + ChangeLog.header)
      if hasPassed(position) { continue }
      // Loaded after the record, so the end counts that record too, and the difference is not negative.
      let last = data.loadRelaxed(DataLayout.logEndOrdinal)
      return Oldest(position: position, ordinal: ChangeLog.ordinal(ofRecord: header, before: last), version: version)
    }
    // We were overtaken so often, or the log begins behind its end. That is damage: the tail never passes the end.
    guard data.loadAcquire(DataLayout.logTailPosition) <= data.loadAcquire(DataLayout.logEndPosition) else {
      throw .damaged("its change log ends before it begins")
    }
    throw .busy(attempts: Self.attempts)
  }

  /// Puts a cursor that knows only its version at the oldest record.
  private func begin(_ cursor: inout ChangeCursor, _ batch: inout ChangeBatch) throws(EngineError) {
    let oldest = try oldest()
    cursor.position = oldest.position
    cursor.ordinal = oldest.ordinal
    cursor.isPlaced = true
    if oldest.position == 0 { return }
    // Something was pushed out. None of it is this reader's if the oldest that is left is not.
    if let version = oldest.version, version <= cursor.start { return }
    if oldest.version == nil, batch.newest <= cursor.start { return }
    cursor.isSearching = false
    batch.missed = max(1, oldest.ordinal)
  }

  /// Puts a cursor that was overtaken at the oldest record.
  private func skip(_ cursor: inout ChangeCursor, _ batch: inout ChangeBatch) throws(EngineError) {
    if cursor.isSearching { return try begin(&cursor, &batch) }
    let oldest = try oldest()
    batch.missed &+= oldest.ordinal > cursor.ordinal ? oldest.ordinal - cursor.ordinal : 1
    cursor.position = oldest.position
    cursor.ordinal = oldest.ordinal
  }
}

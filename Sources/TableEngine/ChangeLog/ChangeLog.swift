import CShims

/// The ring of what changed: part of every commit. Written under W, read by anyone who maps *data*.
///
/// A record is `struct shm_log_record` in `shm_format.h`.
/// Positions are byte counters that never wrap; a record lies at `position % byteCount` and never straddles the end.
/// A reader loads `committed` first and takes only records of versions up to it, copies, fences, and reads the tail
/// again: if the tail has passed its position, it was overrun, and the ordinals say by how many records. The tail has
/// no word for its ordinal, which the record at the tail holds: after a crash between two stores such a word would be
/// one behind.
/// The end may run ahead of `committed` by the transaction in flight; an abort puts it back before its tick, so
/// that no reader ever takes an aborted record for a committed one.
struct ChangeLog {
  enum Operation: UInt64, CaseIterable {
    case padding = 0
    case set = 1
    case remove = 2
  }

  static let headerBytes = shm_log_record_size
  static let version = shm_log_record_version_offset
  /// Length, operation and ordinal: one word here, its header.
  static let header = shm_log_record_byte_count_offset
  static let keyLength = shm_log_record_key_length_offset

  let data: MappedMemory
  let byteCount: Int

  var endPosition: UInt64 { data.loadRelaxed(DataLayout.logEndPosition) }
  var endOrdinal: UInt64 { data.loadRelaxed(DataLayout.logEndOrdinal) }
  var tailPosition: UInt64 { data.loadRelaxed(DataLayout.logTailPosition) }

  /// Ordinal of the oldest record. Records hold the low bits of theirs: more than the ring holds records.
  var tailOrdinal: UInt64 {
    let (end, tail) = (endOrdinal, tailPosition)
    if tail == endPosition { return end }
    return Self.ordinal(ofRecord: data.loadRelaxed(place(tail) + Self.header), before: end)
  }

  // The header's parts, from its low bits up: where each begins, and its bits once it is shifted down.
  private static var byteCountMask: UInt64 { 0xffff_ffff }
  private static var operationShift: UInt64 { 32 }
  private static var operationMask: UInt64 { 0xff }
  private static var ordinalShift: UInt64 { 40 }
  static let ordinalMask: UInt64 = (1 << 24) - 1

  static func lowOrdinal(_ header: UInt64) -> UInt64 { header >> ordinalShift }
  /// The whole ordinal of a record that lies before this one.
  static func ordinal(ofRecord header: UInt64, before end: UInt64) -> UInt64 {
    end &- ((end &- lowOrdinal(header)) & ordinalMask)
  }
  static func byteCount(_ header: UInt64) -> UInt64 { header & byteCountMask }
  static func isPadding(_ header: UInt64) -> Bool { operationBits(header) == Operation.padding.rawValue }
  static func operation(_ header: UInt64) -> Operation? { Operation(rawValue: operationBits(header)) }
  private static func operationBits(_ header: UInt64) -> UInt64 { header >> operationShift & operationMask }

  /// The length that a record says its key has: one of `byteCount` bytes that is no padding. 0 if it is too short to say one.
  ///
  /// Of a record of which it is not possible, a reader says that it is damage and stays before it. So a check must find such a record.
  func keyLength(ofRecordAt place: Int, byteCount: Int) -> (length: UInt64, isPossible: Bool) {
    let room = byteCount - Self.headerBytes
    let length = room < 0 ? 0 : data.loadRelaxed(place + Self.keyLength)
    return (length, length > 0 && length <= UInt64(min(Entry.maximumKeyLength, room)))
  }

  /// The ring's size is a power of two (``Geometry/logBytes``).
  @inline(__always)
  func place(_ position: UInt64) -> Int { DataLayout.log &+ within(position) }

  @inline(__always)
  private func within(_ position: UInt64) -> Int { Int(truncatingIfNeeded: position) & (byteCount &- 1) }

  /// Appends one record, pushing out the oldest as needed. Never fails: half the ring holds the longest record.
  @inline(__always)
  func append(_ operation: Operation, key: UnsafeRawBufferPointer, version: UInt64) {
    let size = (Self.headerBytes &+ key.count &+ 15) & ~15
    let ordinal = endOrdinal
    var end = endPosition
    if _slowPath(within(end) &+ size > byteCount) { end = pad(behind: end, ordinal, version) }
    makeRoom(size, behind: end)
    let place = place(end)
    writeHeader(operation, at: place, byteCount: size, ordinal: ordinal, version: version)
    data.storeRelaxed(place &+ Self.keyLength, UInt64(truncatingIfNeeded: key.count))
    unsafe data.copy(key.baseAddress!, count: key.count, to: place &+ Self.headerBytes)
    data.storeRelaxed(DataLayout.logEndOrdinal, ordinal &+ 1)
    _ = advance(end, by: size)
  }

  /// Fills what is left at the ring's end with a record that says nothing.
  /// - Returns: the new end.
  @inline(never)
  private func pad(behind end: UInt64, _ ordinal: UInt64, _ version: UInt64) -> UInt64 {
    let remaining = byteCount &- within(end)
    makeRoom(remaining, behind: end)
    writeHeader(.padding, at: place(end), byteCount: remaining, ordinal: ordinal, version: version)
    return advance(end, by: remaining)
  }

  @inline(__always)
  private func writeHeader(_ operation: Operation, at place: Int, byteCount: Int, ordinal: UInt64, version: UInt64) {
    data.storeRelaxed(place &+ Self.version, version)
    data.storeRelaxed(
      place &+ Self.header,
      UInt64(truncatingIfNeeded: byteCount) | operation.rawValue << Self.operationShift
        | (ordinal & Self.ordinalMask) << Self.ordinalShift)
  }

  /// - Returns: the new end.
  @inline(__always)
  private func advance(_ end: UInt64, by count: Int) -> UInt64 {
    // PAIR log-end. Other end: ChangeReader.read. Release: the record before the position that covers it.
    data.storeRelease(DataLayout.logEndPosition, end &+ UInt64(truncatingIfNeeded: count))
    return end &+ UInt64(truncatingIfNeeded: count)
  }

  /// Moves the tail past the records that the next `count` bytes behind the end will overwrite.
  @inline(__always)
  private func makeRoom(_ count: Int, behind end: UInt64) {
    let needed = end &+ UInt64(truncatingIfNeeded: count)
    if _slowPath(needed &- tailPosition > UInt64(truncatingIfNeeded: byteCount)) { pushOut(upTo: needed) }
  }

  /// So much more is pushed out at a time: a call costs as much as a few records do.
  private static let pushedOutAhead: UInt64 = 1024

  private func pushOut(upTo needed: UInt64) {
    var tail = tailPosition
    let end = needed &+ Self.pushedOutAhead &- UInt64(truncatingIfNeeded: byteCount)
    let lost = LostPrefixes(data: data)
    // Ends at the log's end at the latest: a record and what is ahead of it are shorter than the ring. No record is shorter than its header:
    // past one that a stray store has made so, the owner of W must not stand still.
    repeat {
      let place = place(tail)
      let header = data.loadRelaxed(place &+ Self.header)
      if !Self.isPadding(header) { lost.note(recordAt: place) }
      tail &+= max(16, Self.byteCount(header))
    } while tail < end
    // PAIR lost-prefix. Other end: LostPrefixes.mayInclude. Release: what was noted before the tail that says that records are lost.
    data.storeRelease(DataLayout.logTailPosition, tail)
    // PAIR log-tail. Other end: ChangeReader.hasPassed. The tail must be seen past a record before the
    // record is seen overwritten.
    shm_fence_release()
  }

  /// Forgets the records of a transaction that is being undone. Idempotent.
  ///
  /// Where those alone filled the ring, the tail has passed the saved end: then the log restarts, empty, at the tail.
  func restore(endPosition: UInt64, endOrdinal: UInt64) {
    let passed = tailPosition > endPosition
    data.storeRelaxed(DataLayout.logEndOrdinal, passed ? tailOrdinal : endOrdinal)
    crashFence()
    data.storeRelease(DataLayout.logEndPosition, passed ? tailPosition : endPosition)
  }

  /// Goes on as if everything up to here had been pushed out: a reader that resumes from an earlier version is told
  /// that it missed something, also where nothing was ever appended.
  /// - Parameter version: the newest of which something may be lost.
  func forgetAll(upTo version: UInt64) {
    LostPrefixes(data: data).noteAll(version)
    let end = max(endPosition, UInt64(byteCount))
    let ordinal = max(endOrdinal, 1)
    restart(at: end, ordinal)
  }

  /// As ``forgetAll(upTo:)``, of a log in which nothing is sure, not even its positions. For a repair, also where the log is whole: it has no
  /// record of the keys that a repair gives up, nor of one that an older version takes the place of. A watcher finds that it missed
  /// what came before, also one that had read all of it.
  func restart(after committed: UInt64) {
    LostPrefixes(data: data).noteAll(committed + 1)
    let possible = 0..<ChangeLog.positionLimit / 2
    let end = [endPosition, tailPosition].filter(possible.contains).max() ?? 0
    let ordinal = possible.contains(endOrdinal) ? endOrdinal : 0
    restart(at: (end + UInt64(byteCount)) & ~15, ordinal + 1)
  }

  /// Without a record.
  private func restart(at end: UInt64, _ ordinal: UInt64) {
    data.storeRelease(DataLayout.logTailPosition, end)
    data.storeRelaxed(DataLayout.logEndOrdinal, ordinal)
    data.storeRelease(DataLayout.logEndPosition, end)
  }
}

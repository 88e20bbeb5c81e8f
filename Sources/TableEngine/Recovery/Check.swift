import CShims
import SharedMemory

/// Does a table keep its invariants ("Invariants" in DESIGN.md)? Looks at every block and changes none.
extension Segment {
  /// Walks the whole table under W, after recovery if the last owner died in it.
  ///
  /// Blocks writers for as long as the walk takes (in the rwlock variant readers too); the work grows with the table.
  /// - Returns: what is wrong, one sentence each, at most ``TableCheck/maximumProblems``; empty if all is well.
  /// - Throws: `wouldDeadlock` inside any section of this table on this thread, `timedOut`, `damaged`, `notPermitted`
  ///   for observers, `forked`.
  public func check(timeoutNanoseconds: UInt64 = 60_000_000_000) throws(EngineError) -> [String] {
    let participant = try requireParticipant()
    let record = try unsafe threadRecord()
    guard unsafe record.pointee.inBarrier == 0, unsafe record.pointee.readDepth == 0 else {
      throw .wouldDeadlock(outer: "section")
    }
    let deadline = HostClock.monotonicNanoseconds &+ timeoutNanoseconds
    let outcome = try participant.lock.lock(timeoutNanoseconds: timeoutNanoseconds)
    defer { participant.lock.unlock() }
    let slot = unsafe Int(record.pointee.slotIndex)
    try enter(participant, slot: slot, died: outcome == .ownerDied, deadline)
    defer { leaveExclusive(participant) }
    var check = TableCheck(participant.writer)
    check.run()
    return check.problems
  }
}

/// One walk: index, rings, allocator, log. Under W, no transaction in flight.
public struct TableCheck {
  public static let maximumProblems = 50

  private let writer: Writer
  private let data: Memory
  private let ctl: Memory
  private let allocator: Allocator
  private let geometry: Geometry

  private let found = Problems()
  /// Who uses each block, by its offset (I6).
  private var owners: [Int: (block: BlockRef, owner: Owner)] = [:]
  /// Frames that belong to a run someone uses.
  private var usedFrames: Set<Int> = []
  /// Entries that gc must find in *superseded* or *retained* (I7), and how often it would.
  private var recorded: [Int: Int] = [:]
  private var garbage: Set<Int> = []
  private var keyCount = 0

  private enum Owner: String {
    case node = "a directory node"
    case subTable = "a sub-table"
    case entry = "an entry"
    case limbo = "limbo"
  }

  init(_ writer: Writer) {
    self.writer = writer
    data = writer.data
    ctl = writer.ctl
    allocator = writer.allocator
    geometry = writer.geometry
  }

  mutating func run() {
    checkRest()
    walkDirectory()
    walkLimbo()
    walkGarbage()
    compareAllocator()
    checkHints()
    walkLog()
    expect(keyCount == writer.keyCount, "the table holds \(keyCount) keys but counts \(writer.keyCount)")
  }

  /// Apart from the walk's state, so that a message may be made from that.
  private final class Problems {
    var list: [String] = []
  }

  var problems: [String] { found.list }

  private func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
    if !condition, found.list.count < Self.maximumProblems { found.list.append(problem()) }
  }

  /// What holds whenever nobody is writing.
  private mutating func checkRest() {
    expect(writer.journal.count == 0, "the journal holds \(writer.journal.count) records at rest")
    expect(data.loadRelaxed(DataLayout.wseq) & 1 == 0, "wseq is odd at rest")
    let reclaimed = data.loadRelaxed(DataLayout.reclaimed)
    expect(reclaimed <= writer.committed, "reclaimed \(reclaimed) is above committed \(writer.committed)")
    let published = data.loadRelaxed(DataLayout.publishedBytes)
    let expected = geometry.unitOffset(allocator.unitCount)
    expect(published == UInt64(expected), "\(published) bytes are published, \(expected) are in units")
  }

  /// Enters a block in the list of owners.
  /// - Returns: false if it is impossible or somebody's already: do not look into it.
  private mutating func claim(_ block: BlockRef, _ owner: Owner) -> Bool {
    let end = geometry.unitOffset(allocator.unitCount)
    guard block.offset >= geometry.unitsOffset, block.offset + block.byteCount <= end else {
      expect(false, "\(owner.rawValue) at \(block.offset) lies outside the units")
      return false
    }
    if let other = owners[block.offset] {
      expect(false, "the block at \(block.offset) is \(owner.rawValue) and \(other.owner.rawValue) (I6)")
      return false
    }
    owners[block.offset] = (block, owner)
    expect(allocator.isMarked(block), "the block at \(block.offset), \(owner.rawValue), is not marked in use (I6)")
    if block.code >= SizeClasses.runCode {
      let first = (block.offset - geometry.unitsOffset) / SizeClasses.frameBytes
      for frame in first..<(first + block.code - SizeClasses.runCode) {
        expect(usedFrames.insert(frame).inserted, "frame \(frame) belongs to two runs (I6)")
      }
    }
    return true
  }
}

// MARK: - Index

extension TableCheck {
  private mutating func walkDirectory() {
    walkWords(at: DataLayout.root, bits: DataLayout.rootBits, above: 0, prefix: 0)
  }

  /// Directory words `0..<2^bits` at `offset`, below `above` bits of the hash that read `prefix`.
  private mutating func walkWords(at offset: Int, bits: Int, above: Int, prefix: UInt64) {
    var index = 0
    while index < 1 << bits {
      let word = DirectoryWord(data.loadRelaxed(offset + index * 8))
      let here = prefix << UInt64(bits) | UInt64(index)
      if word.isNode {
        walkNode(word, below: above + bits, prefix: here)
        index += 1
        continue
      }
      guard word.bits >= above, word.bits <= above + bits else {
        expect(false, "directory word \(here) claims a depth of \(word.bits)")
        index += 1
        continue
      }
      let span = 1 << (above + bits - word.bits)
      for other in index..<min(index + span, 1 << bits) {
        expect(data.loadRelaxed(offset + other * 8) == word.raw, "directory word \(here): its prefix is not uniform")
      }
      expect(index & (span - 1) == 0, "directory word \(here) begins in the middle of its prefix")
      walkSubTables(word, prefix: here >> UInt64(above + bits - word.bits))
      index = (index & ~(span - 1)) + span
    }
  }

  private mutating func walkNode(_ word: DirectoryWord, below above: Int, prefix: UInt64) {
    guard above == DataLayout.rootBits, (1...(SubTable.maximumDepth - above)).contains(word.bits) else {
      return expect(false, "a directory node below \(above) bits claims \(word.bits)")
    }
    let block = BlockRef(offset: word.offset, code: SizeClasses.code(byteCount: 8 << word.bits))
    if claim(block, .node) { walkWords(at: word.offset, bits: word.bits, above: above, prefix: prefix) }
  }

  private mutating func walkSubTables(_ word: DirectoryWord, prefix: UInt64) {
    let byteCount = word.isDeep ? SubTable.deepByteCount : SubTable.byteCount
    var subTable = word.offset
    repeat {
      guard claim(BlockRef(offset: subTable, code: SizeClasses.code(byteCount: byteCount)), .subTable) else { return }
      for index in 0..<(SubTable.bucketCount * 8) {
        walkWord(data.loadRelaxed(subTable + index * 8), bucket: index / 8, word, prefix: prefix)
      }
      subTable = word.isDeep ? Int(data.loadRelaxed(subTable + SubTable.link)) : 0
    } while subTable != 0
  }

  private mutating func walkWord(_ word: UInt64, bucket: Int, _ directory: DirectoryWord, prefix: UInt64) {
    guard BucketWord.isLive(word) else {
      return expect(
        word == BucketWord.empty || word == BucketWord.deleted, "a bucket holds the impossible word \(word)")
    }
    let entry = BucketWord.offset(word)
    guard let meta = claimEntry(entry) else { return }
    let hash = writer.hashOfEntry(entry)
    expect(word >> 48 == UInt64(BucketWord.tag(hash: hash)), "the entry at \(entry) lies under another key's tag")
    let depth = UInt64(directory.bits)
    expect(depth == 0 || hash >> (64 - depth) == prefix, "the entry at \(entry) lies under another prefix")
    let distance = (bucket - Int(truncatingIfNeeded: hash)) & (SubTable.bucketCount - 1)
    expect(
      directory.isDeep || distance < SubTable.window, "the entry at \(entry) lies \(distance) buckets from its home")
    let found = unsafe writer.lookup.newest(data.pointer(entry + meta.keyOffset), meta.keyLength, hash: hash)
    expect(found == entry, "a search for the key of the entry at \(entry) finds \(found): hidden, or there twice")
    if !meta.isTombstone { keyCount += 1 }
    walkChain(from: entry, meta)
  }

  /// - Returns: nil if the entry is impossible or was seen before.
  private mutating func claimEntry(_ entry: Int) -> EntryMeta? {
    let end = geometry.unitOffset(allocator.unitCount)
    guard entry % 16 == 0, entry >= geometry.unitsOffset, entry + Entry.headerBytes <= end else {
      expect(false, "an entry lies at \(entry), where none can be")
      return nil
    }
    let meta = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta))
    guard claim(writer.block(ofEntry: entry), .entry) else { return nil }
    expect(
      data.loadRelaxed(entry + Entry.version) <= writer.committed,
      "the entry at \(entry) is of version \(data.loadRelaxed(entry + Entry.version)), not committed yet (I4)")
    for position in (meta.keyOffset + meta.keyLength)..<meta.valueOffset {
      expect(data.byte(entry + position) == 0, "the entry at \(entry) has padding that is not zero")
    }
    return meta
  }

  /// Versions of one key, newest first; what is behind the first is garbage, and so is every tombstone.
  private mutating func walkChain(from head: Int, _ headMeta: EntryMeta) {
    if headMeta.isTombstone { garbage.insert(head) }
    if writer.variant == .rwlock {
      expect(!headMeta.isTombstone, "the entry at \(head) is a tombstone, in the rwlock variant")
      return expect(data.loadRelaxed(head + Entry.prev) == 0, "the entry at \(head) keeps an older version")
    }
    var newer = head
    while true {
      let entry = Int(truncatingIfNeeded: data.loadRelaxed(newer + Entry.prev))
      guard entry != 0, let meta = claimEntry(entry) else { return }
      garbage.insert(entry)
      expect(
        data.loadRelaxed(entry + Entry.version) <= data.loadRelaxed(newer + Entry.version),
        "the entry at \(entry) is newer than the one before it in its chain")
      let same =
        meta.keyLength == headMeta.keyLength
        && (unsafe shm_equal(
          data.pointer(entry + meta.keyOffset), data.pointer(head + headMeta.keyOffset), meta.keyLength))
      expect(same, "the entry at \(entry) hangs in another key's chain")
      newer = entry
    }
  }
}

// MARK: - Rings

extension TableCheck {
  private mutating func walkLimbo() {
    let limbo = writer.limbo
    expect(limbo.freeEnd <= limbo.head, "a free pass was begun and not finished")
    var bytes = 0
    var last: UInt64 = 0
    var counter = limbo.head
    while counter != limbo.tail {
      let block = BlockRef(raw: ctl.loadRelaxed(limbo.position(counter)))
      let stamp = ctl.loadRelaxed(limbo.position(counter) + 8)
      expect(stamp >= last && stamp <= writer.committed, "limbo's stamp \(stamp) follows \(last) (I1)")
      last = stamp
      bytes += block.byteCount
      _ = claim(block, .limbo)
      counter += 1
    }
    expect(bytes == limbo.bytes, "limbo holds \(bytes) bytes but counts \(limbo.bytes)")
  }

  /// I7: every superseded entry and every tombstone is recorded once, and nothing else is.
  private mutating func walkGarbage() {
    var last: UInt64 = 0
    forEachRecord(writer.superseded) { check, record in
      let version = check.data.loadRelaxed(Int(record & ~1) + Entry.version)
      check.expect(version >= last, "*superseded* goes back from version \(last) to \(version)")
      last = version
      let named = Int(record & ~1)
      check.note(record & 1 != 0 ? named : Int(truncatingIfNeeded: check.data.loadRelaxed(named + Entry.prev)))
    }
    forEachRecord(writer.retained) { check, record in check.note(Int(record & ~1)) }
    var bytes = 0
    for entry in garbage {
      bytes += writer.block(ofEntry: entry).byteCount
      let count = recorded[entry] ?? 0
      expect(count == 1, "gc would meet the superseded entry at \(entry) \(count) times (I7)")
    }
    for entry in recorded.keys where !garbage.contains(entry) {
      expect(false, "gc would meet the entry at \(entry), which is not superseded (I7)")
    }
    let counted = ctl.loadRelaxed(ControlLayout.garbageBytes)
    expect(counted == UInt64(bytes), "superseded versions take \(bytes) bytes but count \(counted)")
  }

  private mutating func forEachRecord(_ ring: Ring, _ body: (inout TableCheck, UInt64) -> Void) {
    var counter = ring.head
    while counter != ring.tail {
      let record = ctl.loadRelaxed(ring.position(counter))
      if owners[Int(record & ~1)]?.owner == .entry {
        body(&self, record)
      } else {
        expect(false, "gc would look at \(record & ~1), where no reachable entry is (I7)")
      }
      counter += 1
    }
  }

  private mutating func note(_ entry: Int) { recorded[entry, default: 0] += 1 }
}

// MARK: - Allocator and log

extension TableCheck {
  /// I6, the other way round: whatever is marked in use has an owner.
  private mutating func compareAllocator() {
    for unit in 0..<allocator.unitCount {
      for superframe in 0..<Geometry.superframesPerUnit {
        let kind = allocator.kind(unit, superframe)
        if kind == 0 {
          compareFrames(unit, superframe)
        } else if kind <= SizeClasses.sizes.count {
          compareSlab(unit, superframe, sizeClass: kind - 1)
        } else {
          expect(false, "superframe \(superframe) of unit \(unit) is of the impossible kind \(kind)")
        }
      }
    }
  }

  private mutating func compareFrames(_ unit: Int, _ superframe: Int) {
    let free = allocator.nibble(unit, superframe)
    for bit in 0..<4 where free & (1 << UInt64(bit)) == 0 {
      let frame = unit * Geometry.framesPerUnit + superframe * 4 + bit
      expect(usedFrames.contains(frame), "frame \(frame) is marked in use and nobody's: leaked (I6)")
    }
  }

  private mutating func compareSlab(_ unit: Int, _ superframe: Int, sizeClass: Int) {
    let start = geometry.unitOffset(unit) + superframe * SizeClasses.slabBytes
    let used = allocator.usedBits(unit, superframe)
    for index in 0..<(UnitLayout.usedBytesPerSlab * 8) where ctl.bit(index, at: used) {
      let offset = start + index * SizeClasses.sizes[sizeClass]
      let owner = index < SizeClasses.blocksPerSlab(sizeClass) ? owners[offset] : nil
      expect(owner?.block.code == sizeClass, "the block at \(offset) is marked in use and nobody's: leaked (I6)")
    }
  }

  /// Hints are supersets: room that no hint claims would never be found.
  private mutating func checkHints() {
    for unit in 0..<allocator.unitCount {
      for superframe in 0..<Geometry.superframesPerUnit {
        let kind = allocator.kind(unit, superframe)
        if kind == 0 {
          let free = allocator.nibble(unit, superframe)
          expect(free == 0 || allocator.claims(Summary.freeFrame, unit), "unit \(unit) hides free frames")
          expect(free != 0xf || allocator.claims(Summary.freeSuperframe, unit), "unit \(unit) hides superframes")
        } else if kind <= SizeClasses.sizes.count, allocator.hasRoom(unit, superframe, sizeClass: kind - 1) {
          let hint = ctl.bit(superframe, at: geometry.descriptor(unit) + UnitLayout.partial + (kind - 1) * 8)
          expect(hint && allocator.claims(kind - 1, unit), "unit \(unit) hides room in slab \(superframe)")
        }
      }
    }
  }

  private mutating func walkLog() {
    let log = writer.log
    guard log.endPosition >= log.tailPosition, log.endPosition - log.tailPosition <= UInt64(log.byteCount) else {
      return expect(false, "the change log ends at \(log.endPosition) and begins at \(log.tailPosition)")
    }
    var position = log.tailPosition
    var records: UInt64 = 0
    var last: UInt64 = 0
    while position < log.endPosition {
      let place = DataLayout.log + Int(position % UInt64(log.byteCount))
      let version = data.loadRelaxed(place)
      let header = data.loadRelaxed(place + 8)
      guard ChangeLog.byteCount(header) >= 16, let operation = ChangeLog.operation(header) else {
        return expect(false, "the change log holds no record at \(position)")
      }
      expect(version >= last && version <= writer.committed, "the change log goes from \(last) to \(version)")
      last = version
      expect(
        ChangeLog.lowOrdinal(header) == (log.tailOrdinal &+ records) & ChangeLog.ordinalMask,
        "the change log's record at \(position) bears another ordinal")
      if operation != .padding { records += 1 }
      position += ChangeLog.byteCount(header)
    }
    expect(position == log.endPosition, "the change log's last record passes its end")
    expect(
      records == log.endOrdinal &- log.tailOrdinal,
      "the change log holds \(records) records but counts \(log.endOrdinal &- log.tailOrdinal)")
  }
}

extension Allocator {
  /// Does the summary, on both its levels, say that the unit has some?
  fileprivate func claims(_ which: Int, _ unit: Int) -> Bool {
    let base = geometry.summaryOffset + which * (geometry.summaryWords + geometry.summaryTopWords) * 8
    return ctl.bit(unit, at: base) && ctl.bit(unit / 64, at: base + geometry.summaryWords * 8)
  }

  fileprivate func hasRoom(_ unit: Int, _ superframe: Int, sizeClass: Int) -> Bool {
    let used = usedBits(unit, superframe)
    return (0..<SizeClasses.blocksPerSlab(sizeClass)).contains { !ctl.bit($0, at: used) }
  }
}

import CShims
import SharedMemory

/// Does a table keep its invariants ("Invariants" in DESIGN.md)? Looks at every block and changes none.
extension Segment {
  /// Walks the whole table under W, after recovery if the last owner died in it.
  ///
  /// Blocks writers for as long as the walk takes (in the rwlock variant readers too); the work grows with the table.
  /// - Returns: what is wrong, one sentence each, at most ``TableCheck/maximumProblems``; empty if all is well.
  /// - Throws: `wouldDeadlock` inside any section of this table on this thread, `timedOut`, `damaged` if not even the
  ///   lock is one, `notPermitted` for observers, `forked`.
  public func check(timeoutNanoseconds: UInt64 = 60_000_000_000) throws(EngineError) -> [String] {
    try inspect(timeoutNanoseconds: timeoutNanoseconds) { _, _, _, problems in problems }
  }

  /// Takes W and checks; what follows runs under W as well, but not inside the rwlock variant's exclusion.
  func inspect<R>(
    timeoutNanoseconds: UInt64,
    _ body: (Participant, _ slot: Int, _ deadline: UInt64, _ problems: [String]) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let participant = try requireParticipant()
    let record = try unsafe threadRecord()
    guard unsafe shm_thread_is_outside(record) else {
      throw .wouldDeadlock(outer: "section")
    }
    let deadline = HostClock.monotonicNanoseconds &+ timeoutNanoseconds
    let slot = unsafe Int(record.pointee.slotIndex)
    let outcome = try participant.lock.lock(slot: slot, timeoutNanoseconds: timeoutNanoseconds)
    defer { participant.lock.unlock() }
    var check = TableCheck(self, participant.writer)
    do throws(EngineError) {
      if outcome == .ownerDied { inherit(participant) }
      try enter(participant, slot: slot, deadline)
      check.run()
      leaveExclusive(participant)
    } catch {
      // Marked for good: nobody writes, and that is all that a walk needs.
      guard participant.ctl.loadRelaxed(ControlLayout.damaged) != 0 else { throw error }
      check.note("it is marked damaged")
      check.run()
    }
    return try body(participant, slot, deadline, check.problems)
  }
}

/// One walk: index, rings, allocator, log. Under W, no transaction in flight. Believes nothing: damage is what it is
/// for.
public struct TableCheck {
  public static let maximumProblems = 50

  let segment: Segment
  let writer: Writer
  let data: Memory
  let ctl: Memory
  let allocator: Allocator
  let geometry: Geometry

  let found = Problems()
  /// Who uses each block, by its offset (I6).
  var owners: [Int: (block: BlockRef, owner: Owner)] = [:]
  /// Frames that belong to a run someone uses.
  var usedFrames: Set<Int> = []
  /// Entries that gc must find in *superseded* or *retained* (I7), and how often it would.
  var recorded: [Int: Int] = [:]
  var garbage: Set<Int> = []
  var keyCount = 0
  /// Where the units end.
  var end = 0

  enum Owner: String {
    case node = "a directory node"
    case subTable = "a sub-table"
    case entry = "an entry"
    case limbo = "limbo"
  }

  init(_ segment: Segment, _ writer: Writer) {
    self.segment = segment
    self.writer = writer
    data = writer.data
    ctl = writer.ctl
    allocator = writer.allocator
    geometry = writer.geometry
  }

  mutating func run() {
    checkRest()
    guard checkUnits() else { return }
    walkDirectory()
    walkLimbo()
    walkGarbage()
    compareAllocator()
    checkHints()
    walkLog()
    expect(keyCount == writer.keyCount, "the table holds \(keyCount) keys but counts \(writer.keyCount)")
  }

  /// Apart from the walk's state, so that a message may be made from that.
  final class Problems {
    var list: [String] = []
  }

  var problems: [String] { found.list }

  func note(_ problem: String) { expect(false, problem) }

  func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
    if !condition, found.list.count < Self.maximumProblems { found.list.append(problem()) }
  }

  /// What holds whenever nobody is writing.
  mutating func checkRest() {
    expect(writer.journal.count == 0, "the journal holds \(writer.journal.count) records at rest")
    expect(data.loadRelaxed(DataLayout.wseq) & 1 == 0, "wseq is odd at rest")
    expect(
      ctl.loadRelaxed(ControlLayout.journalAllocated) <= UInt64(geometry.journalBytes),
      "the journal claims \(ctl.loadRelaxed(ControlLayout.journalAllocated)) bytes")
    expect(
      ctl.loadRelaxed(ControlLayout.slotsHighWater) <= UInt64(geometry.slotCount),
      "\(ctl.loadRelaxed(ControlLayout.slotsHighWater)) slots were claimed")
    expect(
      ctl.loadRelaxed(ControlLayout.retainedRescanEnd) <= writer.retained.tail,
      "*retained* is to be looked at again up to \(ctl.loadRelaxed(ControlLayout.retainedRescanEnd)), past its end")
    let reclaimed = data.loadRelaxed(DataLayout.reclaimed)
    expect(reclaimed <= writer.committed, "reclaimed \(reclaimed) is above committed \(writer.committed)")
  }

  /// - Returns: false if the units cannot be looked at.
  mutating func checkUnits() -> Bool {
    let units = ctl.loadRelaxed(ControlLayout.units)
    let dataSize = (try? segment.dataObject.status().size) ?? 0
    let controlSize = (try? segment.participant!.object.status().size) ?? 0
    guard units <= UInt64(geometry.unitCount), geometry.unitOffset(Int(units)) <= dataSize,
      geometry.descriptor(Int(units)) <= controlSize
    else {
      note("it counts \(units) units, and there is not room for as many")
      return false
    }
    end = geometry.unitOffset(Int(units))
    let published = data.loadRelaxed(DataLayout.publishedBytes)
    expect(published == UInt64(end), "\(published) bytes are published, \(end) are in units")
    let slots = segment.participant!.slots
    // The mark is read anew for a slot that is held: a thread that has just come raised it before it took one.
    for index in slots.highWater..<slots.count where slots.isHeld(index) && index >= slots.highWater {
      note("slot \(index) is in use, above the \(slots.highWater) that the scans look at")
    }
    return true
  }

  /// Enters a block in the list of owners.
  /// - Returns: false if it is impossible or somebody's already: do not look into it.
  mutating func claim(_ block: BlockRef, _ owner: Owner) -> Bool {
    guard block.code < SizeClasses.sizes.count || block.code >= SizeClasses.runCode,
      block.offset >= geometry.unitsOffset, block.offset + block.byteCount <= end
    else {
      expect(false, "\(owner.rawValue) at \(block.offset) lies outside the units")
      return false
    }
    guard block.isOnGrid(geometry) else {
      expect(false, "\(owner.rawValue) at \(block.offset) lies across blocks")
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

import CShims
import SharedMemory

/// What a participant does arithmetic with and never looks at again: checked once, when it attaches. From then on the
/// control object is trusted; who can write it could misdirect its participants in ways that no check finds.
///
/// Others may be at work meanwhile, and the table may grow and shrink. So a rule is about one word, or about a word and the object's
/// length, which only grows, and does so before a word says it: it is asked for after the word. Two words that contradict each other
/// are damage only if they are of one moment (``expectPair(_:in:_:isPossible:)``).
package struct ControlAttachmentCheck {
  let ctl: MappedMemory
  let data: MappedMemory
  let geometry: Geometry
  /// How long the control object is now.
  let byteCount: () throws(SystemError) -> Int

  package init(
    ctl: MappedMemory, data: MappedMemory, geometry: Geometry, byteCount: @escaping () throws(SystemError) -> Int
  ) {
    self.ctl = ctl
    self.data = data
    self.geometry = geometry
    self.byteCount = byteCount
  }

  init(_ segment: Segment, _ participant: Segment.Participant) {
    let object = participant.object
    self.init(ctl: participant.ctl, data: segment.data, geometry: segment.geometry) { () throws(SystemError) in
      try object.status().size
    }
  }

  /// - Throws: `unopenable`, or `irreparable` for what a repair believes, naming what cannot be.
  package func check() throws(EngineError) {
    try checkBelieved()
    try expect(ControlLayout.slotsHighWater, in: 0...UInt64(geometry.slotCount), "number of slots")
    try expect(ControlLayout.limboBudget, in: 0...UInt64(Int.max), "limbo budget")
    try checkUnits()
    try checkJournal()
    for (header, region, recordBytes, records) in [
      (ControlLayout.limbo, geometry.limboOffset, LimboRing.recordBytes, geometry.limboRecords),
      (ControlLayout.superseded, geometry.supersededOffset, SupersededRing.recordBytes, geometry.supersededRecords),
      (ControlLayout.retained, geometry.retainedOffset, RetainedRing.recordBytes, geometry.supersededRecords),
    ] {
      let mask = try expect(
        header + shm_ring_mask_offset, in: UInt64(Ring.initialRecords - 1)...UInt64(records - 1), "ring's size")
      if mask & (mask + 1) != 0 { throw impossible("ring's size") }
      try expectHeld(region + (Int(mask) + 1) * recordBytes, "ring's size")
    }
    if isRWLock { try expect(RWLayout.drained, in: Self.generations, "rwlock's drained generation") }
  }

  /// What a repair believes, and could not end with if it were wrong: the table would stay marked damaged.
  func checkBelieved() throws(EngineError) {
    let committed = data.loadAcquire(DataLayout.committed)
    if committed > SlotWord.versionMask >> 1 { throw .irreparable("its version cannot be \(committed)") }
    guard isRWLock else { return }
    for word in [RWLayout.generation, RWLayout.abandoned] where !Self.generations.contains(ctl.loadAcquire(word)) {
      throw .irreparable("its rwlock's generation cannot be")
    }
  }

  /// The rcu variant does not use the rwlock's words.
  private var isRWLock: Bool {
    data.loadRelaxed(DataLayout.versionAndVariant) >> 32 == UInt64(Variant.rwlock.rawValue)
  }

  private static let generations = 0...SlotWord.versionMask >> 2

  /// The published size may be one unit behind, if a writer died while the table grew.
  private func checkUnits() throws(EngineError) {
    let possible = 1...UInt64(geometry.unitCount)
    try expectPair(ControlLayout.units, in: possible, "number of units") { units throws(EngineError) in
      try expectHeld(geometry.descriptor(Int(units)), "number of units")
      return data.loadAcquire(DataLayout.publishedBytes) >= UInt64(geometry.unitOffset(Int(units) - 1))
    }
  }

  private func checkJournal() throws(EngineError) {
    let possible = 0...UInt64(geometry.journalBytes)
    try expectPair(ControlLayout.journalAllocated, in: possible, "journal's size") { allocated throws(EngineError) in
      try expectHeld(geometry.journalOffset + Int(allocated), "journal's size")
      let records = ctl.loadAcquire(ControlLayout.journal + JournalLayout.count)
      return records <= allocated / UInt64(JournalLayout.recordBytes)
    }
  }

  /// Checks a word with a second one, which `isPossible` loads.
  ///
  /// Both change under W. What cannot be is damage if the first word did not change between, and W had no other owner: one owner
  /// either grows the table or shrinks it. Else it is looked at anew.
  private func expectPair(
    _ offset: Int, in range: ClosedRange<UInt64>, _ what: String, isPossible: (UInt64) throws(EngineError) -> Bool
  ) throws(EngineError) {
    for _ in 0..<Self.attempts {
      let turn = ctl.loadAcquire(ControlLayout.turns)
      let first = try expect(offset, in: range, what)
      if try isPossible(first) { return }
      if ctl.loadAcquire(offset) == first, ctl.loadAcquire(ControlLayout.turns) == turn { break }
    }
    throw impossible(what)
  }

  /// If W has had another owner, or the word has changed, in each of so many attempts, that is no coincidence but
  /// damage.
  private static let attempts = 1000

  @discardableResult
  private func expect(_ offset: Int, in range: ClosedRange<UInt64>, _ what: String) throws(EngineError) -> UInt64 {
    let value = ctl.loadAcquire(offset)
    guard range.contains(value) else { throw impossible(what) }
    return value
  }

  /// Does the object hold what a word has just been seen to say?
  private func expectHeld(_ end: Int, _ what: String) throws(EngineError) {
    let held: Int
    do throws(SystemError) { held = try byteCount() } catch { throw .system(error) }
    if end > held { throw impossible(what) }
  }

  private func impossible(_ what: String) -> EngineError { .unopenable("its control object's \(what) cannot be") }
}

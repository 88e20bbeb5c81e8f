/// One walk over a whole table: index, rings, allocator, log. Under W, no transaction in flight. It believes nothing it
/// reads, since damage is what it is for.
struct TableCheck {
  private let segment: Segment
  private let participant: Segment.Participant
  private let state: WriterState
  private let problems = Problems()

  init(_ segment: Segment, _ participant: Segment.Participant) {
    self.segment = segment
    self.participant = participant
    state = participant.state
  }

  private var data: MappedMemory { state.data }
  private var ctl: MappedMemory { state.ctl }
  private var geometry: Geometry { state.geometry }

  /// - Parameter after: a problem that is known already.
  /// - Returns: what is wrong.
  func run(after known: String? = nil) -> [String] {
    if let known { problems.note(known) }
    checkRest()
    guard let end = unitsEnd() else { return problems.list }
    let owners = BlockOwners(state, end: end, problems)
    var index = IndexCheck(segment, state, owners, problems)
    index.run()
    var rings = RingCheck(state, owners, problems)
    rings.run(garbage: index.garbage)
    AllocatorCheck(state, owners, problems).run()
    if let flaw = state.log.flaw(committed: state.committed) { problems.note("the change log \(flaw)") }
    problems.expect(
      index.keyCount == state.keyCount, "the table holds \(index.keyCount) keys but counts \(state.keyCount)")
    if problems.list.isEmpty { checkOpening() }
    return problems.list
  }

  /// Else nobody could open a table that is called sound.
  private func checkOpening() {
    do throws(EngineError) { try ControlAttachmentCheck(segment, participant).check() } catch {
      switch error {
      case .unopenable(let what), .irreparable(let what): problems.note("nobody could open it: \(what)")
      default: break
      }
    }
  }

  /// What holds whenever no barrier runs.
  private func checkRest() {
    problems.expect(state.journal.count == 0, "the journal holds \(state.journal.count) records at rest")
    problems.expect(data.loadRelaxed(DataLayout.wseq) & 1 == 0, "wseq is odd at rest")
    problems.expect(
      ctl.loadRelaxed(ControlLayout.journalAllocated) <= UInt64(geometry.journalBytes),
      "the journal claims \(ctl.loadRelaxed(ControlLayout.journalAllocated)) bytes")
    problems.expect(
      ctl.loadRelaxed(ControlLayout.slotsHighWater) <= UInt64(geometry.slotCount),
      "\(ctl.loadRelaxed(ControlLayout.slotsHighWater)) slots were claimed")
    problems.expect(
      ctl.loadRelaxed(ControlLayout.retainedRescanEnd) <= state.retained.tail,
      "*retained* is to be looked at again up to \(ctl.loadRelaxed(ControlLayout.retainedRescanEnd)), past its end")
    let reclaimed = data.loadRelaxed(DataLayout.reclaimed)
    problems.expect(
      state.chainsCutAt <= reclaimed, "chains are cut at \(state.chainsCutAt), above reclaimed \(reclaimed)")
    problems.expect(
      state.recyclableUpTo <= reclaimed,
      "versions are recyclable up to \(state.recyclableUpTo), above reclaimed \(reclaimed)")
    problems.expect(reclaimed <= state.committed, "reclaimed \(reclaimed) is above committed \(state.committed)")
  }

  /// - Returns: where the units end; nil if the units cannot be looked at.
  private func unitsEnd() -> Int? {
    let units = ctl.loadRelaxed(ControlLayout.units)
    let dataSize = (try? segment.dataObject.status().size) ?? 0
    let controlSize = (try? participant.object.status().size) ?? 0
    guard units <= UInt64(geometry.unitCount), geometry.unitOffset(Int(units)) <= dataSize,
      geometry.descriptor(Int(units)) <= controlSize
    else {
      problems.note("it counts \(units) units, and there is not room for as many")
      return nil
    }
    // Their positions are looked at before any of their records is.
    for ring in [state.limbo, state.superseded, state.retained]
    where ring.isSound && ring.spareRegion.lowerBound > controlSize {
      problems.note("a ring claims \(ring.mask + 1) records, and there is not memory for as many")
      return nil
    }
    let end = geometry.unitOffset(Int(units))
    let published = data.loadRelaxed(DataLayout.publishedBytes)
    problems.expect(published == UInt64(end), "\(published) bytes are published, \(end) are in units")
    let slots = participant.slots
    // The mark is read anew for a slot that is held: a thread that has just come raised it before it took one.
    for index in slots.highWater..<slots.count where slots.isHeld(index) && index >= slots.highWater {
      problems.note("slot \(index) is in use, above the \(slots.highWater) that the scans look at")
    }
    return end
  }
}

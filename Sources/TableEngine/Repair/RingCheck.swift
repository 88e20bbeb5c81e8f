/// Checks limbo, *superseded* and *retained*.
struct RingCheck {
  private let state: WriterState
  private let owners: BlockOwners
  private let problems: Problems
  /// How often a reclaim would meet each entry (I7).
  private var recorded: [Int: Int] = [:]

  init(_ state: WriterState, _ owners: BlockOwners, _ problems: Problems) {
    self.state = state
    self.owners = owners
    self.problems = problems
  }

  private var data: MappedMemory { state.data }
  private var ctl: MappedMemory { state.ctl }

  /// - Parameter garbage: the superseded entries and tombstones that the index leads to.
  mutating func run(garbage: Set<Int>) {
    walkLimbo()
    problems.expect(
      state.superseded.freeEnd <= state.superseded.head, "a pass over *superseded* was begun and not finished")
    walkGarbage(garbage)
  }

  private func walkLimbo() {
    let limbo = state.limbo
    guard limbo.isSound else { return problems.note("limbo's positions cannot be") }
    problems.expect(limbo.freeEnd <= limbo.head, "a free pass was begun and not finished")
    var bytes = 0
    var last: UInt64 = 0
    var counter = limbo.head
    while counter != limbo.tail {
      let block = limbo.block(counter)
      let stamp = limbo.stamp(counter)
      problems.expect(stamp >= last && stamp <= state.committed, "limbo's stamp \(stamp) follows \(last) (I1)")
      last = stamp
      if owners.enter(block, .limbo) { bytes += block.byteCount }
      counter &+= 1
    }
    problems.expect(bytes == limbo.bytes, "limbo holds \(bytes) bytes but counts \(limbo.bytes)")
  }

  /// I7: every superseded entry and every tombstone is recorded once; what else is recorded was cut off from its chain.
  private mutating func walkGarbage(_ garbage: Set<Int>) {
    var bytes = 0
    var last: UInt64 = 0
    forEachRecord(state.superseded) { check, counter in
      let ring = check.state.superseded
      let block = ring.block(counter)
      var stamp = ring.stamp(counter)
      if SupersededRing.isTombstone(ring.word(counter, SupersededRing.newer)) {
        // The ring's order is by the versions that made the records; a tombstone's stamp says something else.
        guard check.owners.blockPlaces.mayHoldEntry(at: block.offset) else {
          return check.problems.note("*superseded* names \(block.offset), where no entry can be (I7)")
        }
        let version = check.data.loadRelaxed(block.offset + Entry.version)
        check.problems.expect(
          stamp == SupersededRing.unsettled || stamp >= version && stamp <= check.state.committed &+ 1,
          "*superseded*'s tombstone of version \(version) would go after \(stamp)")
        stamp = version
      } else if stamp > check.state.chainsCutAt {
        check.expectNewer(ring.word(counter, SupersededRing.newer), than: block)
      }
      check.problems.expect(
        stamp >= last && stamp <= check.state.committed, "*superseded*'s stamp \(stamp) follows \(last)")
      last = stamp
      bytes += check.meet(block, stamp, garbage)
    }
    forEachRecord(state.retained) { check, counter in
      let ring = check.state.retained
      let entry = Int(truncatingIfNeeded: ring.word(counter, RetainedRing.entry) & ~1)
      guard check.owners.blockPlaces.mayHoldEntry(at: entry) else {
        return check.problems.note("*retained* names \(entry), where no entry can be (I7)")
      }
      bytes += check.meet(check.state.block(ofEntry: entry), ring.stamp(counter), garbage)
    }
    for entry in garbage {
      let count = recorded[entry] ?? 0
      problems.expect(count == 1, "a reclaim would meet the superseded entry at \(entry) \(count) times (I7)")
    }
    let counted = LimboBudget(state: state).garbageBytes
    problems.expect(counted == UInt64(bytes), "superseded versions take \(bytes) bytes but count \(counted)")
  }

  /// An unlink pass goes by the record: from the version that superseded this one, it stores to that one's `prev`.
  private func expectNewer(_ word: UInt64, than block: BlockRef) {
    let newer = Int(truncatingIfNeeded: word)
    problems.expect(
      owners.blockPlaces.mayHoldEntry(at: newer)
        && data.loadRelaxed(newer + Entry.prev) == UInt64(truncatingIfNeeded: block.offset),
      "*superseded* has the version at \(block.offset) behind \(word), which does not lead to it")
  }

  /// Takes in what a ring of superseded versions names.
  /// - Returns: its bytes.
  private mutating func meet(_ block: BlockRef, _ stamp: UInt64, _ garbage: Set<Int>) -> Int {
    if owners.owner(block.offset) == .entry {
      problems.expect(
        garbage.contains(block.offset),
        "a reclaim would meet the entry at \(block.offset), which is not superseded (I7)")
      recorded[block.offset, default: 0] += 1
      return block.byteCount
    }
    problems.expect(
      stamp <= state.chainsCutAt, "a reclaim would look at \(block.offset), where no reachable entry is (I7)")
    return owners.enter(block, .cutOff) ? block.byteCount : 0
  }

  private mutating func forEachRecord(_ ring: Ring, _ body: (inout RingCheck, UInt64) -> Void) {
    guard ring.isSound else { return problems.note("the positions of the superseded versions' ring cannot be") }
    var counter = ring.head
    while counter != ring.tail {
      body(&self, counter)
      counter &+= 1
    }
  }
}

/// Checks limbo, *superseded* and *retained*.
struct RingCheck {
  private let state: TableState
  private let owners: BlockOwners
  private let problems: Problems
  /// How often a reclaim would meet each entry (I7).
  private var recorded: [Int: Int] = [:]

  init(_ state: TableState, _ owners: BlockOwners, _ problems: Problems) {
    self.state = state
    self.owners = owners
    self.problems = problems
  }

  private var data: Memory { state.data }
  private var ctl: Memory { state.ctl }

  /// - Parameter garbage: the superseded entries and tombstones that the index leads to.
  mutating func run(garbage: Set<Int>) {
    walkLimbo()
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
      let block = BlockRef(raw: ctl.loadRelaxed(limbo.position(counter)))
      let stamp = ctl.loadRelaxed(limbo.position(counter) + 8)
      problems.expect(stamp >= last && stamp <= state.committed, "limbo's stamp \(stamp) follows \(last) (I1)")
      last = stamp
      if owners.enter(block, .limbo) { bytes += block.byteCount }
      counter &+= 1
    }
    problems.expect(bytes == limbo.bytes, "limbo holds \(bytes) bytes but counts \(limbo.bytes)")
  }

  /// I7: every superseded entry and every tombstone is recorded once, and nothing else is.
  private mutating func walkGarbage(_ garbage: Set<Int>) {
    var last: UInt64 = 0
    forEachRecord(state.superseded) { check, record in
      let version = check.data.loadRelaxed(Int(truncatingIfNeeded: record & ~1) + Entry.version)
      check.problems.expect(version >= last, "*superseded* goes back from version \(last) to \(version)")
      last = version
      let named = Int(truncatingIfNeeded: record & ~1)
      check.count(record & 1 != 0 ? named : Int(truncatingIfNeeded: check.data.loadRelaxed(named + Entry.prev)))
    }
    forEachRecord(state.retained) { check, record in check.count(Int(truncatingIfNeeded: record & ~1)) }
    var bytes = 0
    for entry in garbage {
      bytes += state.block(ofEntry: entry).byteCount
      let count = recorded[entry] ?? 0
      problems.expect(count == 1, "gc would meet the superseded entry at \(entry) \(count) times (I7)")
    }
    for entry in recorded.keys where !garbage.contains(entry) {
      problems.expect(false, "gc would meet the entry at \(entry), which is not superseded (I7)")
    }
    let counted = ctl.loadRelaxed(ControlLayout.garbageBytes)
    problems.expect(counted == UInt64(bytes), "superseded versions take \(bytes) bytes but count \(counted)")
  }

  private mutating func forEachRecord(_ ring: Ring, _ body: (inout RingCheck, UInt64) -> Void) {
    guard ring.isSound else { return problems.note("the positions of the superseded versions' ring cannot be") }
    var counter = ring.head
    while counter != ring.tail {
      let record = ctl.loadRelaxed(ring.position(counter))
      if owners.owner(Int(truncatingIfNeeded: record & ~1)) == .entry {
        body(&self, record)
      } else {
        problems.expect(false, "gc would look at \(record & ~1), where no reachable entry is (I7)")
      }
      counter &+= 1
    }
  }

  private mutating func count(_ entry: Int) { recorded[entry, default: 0] += 1 }
}

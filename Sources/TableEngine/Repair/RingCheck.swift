/// Checks limbo, *superseded* and *retained*.
struct RingCheck {
  private let state: WriterState
  private let owners: BlockOwners
  private let problems: Problems
  /// The superseded entries and tombstones that the index leads to, with the next newer entry of each: 0 for the newest of a key.
  private var garbage: [Int: Int] = [:]
  /// How often a reclaim would meet each entry (I7).
  private var recorded: [Int: Int] = [:]

  init(_ state: WriterState, _ owners: BlockOwners, _ problems: Problems) {
    self.state = state
    self.owners = owners
    self.problems = problems
  }

  private var data: MappedMemory { state.data }
  private var ctl: MappedMemory { state.ctl }

  /// - Parameter garbage: the superseded entries and tombstones that the index leads to, with the next newer entry of each: 0 for the newest of
  ///   a key.
  mutating func run(garbage: [Int: Int]) {
    self.garbage = garbage
    walkLimbo()
    problems.expect(
      state.superseded.freeEnd <= state.superseded.head, "a pass over *superseded* was begun and not finished")
    walkGarbage()
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
  private mutating func walkGarbage() {
    var bytes = 0
    var last: UInt64 = 0
    forEachRecord(state.superseded) { check, counter in
      let ring = check.state.superseded
      let block = ring.block(counter)
      var stamp = ring.stamp(counter)
      let newer = ring.word(counter, SupersededRing.newer)
      check.expectStamp(stamp, of: block, recordedBehind: newer)
      if SupersededRing.isTombstone(newer) {
        // The ring's order is by the versions that made the records; a tombstone's stamp says something else.
        guard check.owners.blockPlaces.mayHoldEntry(at: block.offset) else {
          return check.problems.note("*superseded* names \(block.offset), where no entry can be (I7)")
        }
        let version = check.data.loadRelaxed(block.offset + Entry.version)
        check.problems.expect(
          stamp == SupersededRing.unsettled || stamp >= version && stamp <= check.state.committed &+ 1,
          "*superseded*'s tombstone of version \(version) would go after \(stamp)")
        stamp = version
      }
      check.problems.expect(
        stamp >= last && stamp <= check.state.committed, "*superseded*'s stamp \(stamp) follows \(last)")
      last = stamp
      bytes += check.meet(block, stamp)
    }
    forEachRecord(state.retained) { check, counter in
      let ring = check.state.retained
      let word = ring.word(counter, RetainedRing.entry)
      let entry = Int(truncatingIfNeeded: word & ~1)
      guard check.owners.blockPlaces.mayHoldEntry(at: entry) else {
        return check.problems.note("*retained* names \(entry), where no entry can be (I7)")
      }
      check.expectRetained(ring.stamp(counter), of: entry, asTombstone: word & 1 != 0)
      bytes += check.meet(check.state.block(ofEntry: entry), ring.stamp(counter))
    }
    for entry in garbage.keys {
      let count = recorded[entry] ?? 0
      problems.expect(count == 1, "a reclaim would meet the superseded entry at \(entry) \(count) times (I7)")
    }
    let counted = LimboBudget(state: state).garbageBytes
    problems.expect(counted == UInt64(bytes), "superseded versions take \(bytes) bytes but count \(counted)")
  }

  /// Of a version in *superseded* that the index leads to. Passes go by its record: a lower stamp would have one free it while a reader can come
  /// to it, and an unlink pass stores to the `prev` of the newer version that the record names.
  ///
  /// The record of the newer version lies behind this one, and passes take both in their order. So that version is still the next in the chain.
  private func expectStamp(_ stamp: UInt64, of block: BlockRef, recordedBehind word: UInt64) {
    guard let newer = garbage[block.offset] else { return }
    let isTombstone = SupersededRing.isTombstone(word)
    problems.expect(
      isTombstone || word == UInt64(truncatingIfNeeded: newer),
      "*superseded* has the version at \(block.offset) behind \(word), but \(newer) leads to it")
    if isTombstone, stamp == SupersededRing.unsettled { return }
    problems.expect(
      newer != 0 && stamp == version(newer),
      "*superseded* would free the version at \(block.offset) after \(stamp), which is not that of the next newer one")
  }

  /// Of a version in *retained* that the index leads to. The versions between it and the next newer one may have been unlinked, so its stamp may be
  /// lower than that one's. A tombstone has the bit, and its own version as its stamp, unless it was settled before it was retained: then it was
  /// superseded by a later version, which is its stamp.
  private func expectRetained(_ stamp: UInt64, of entry: Int, asTombstone hasBit: Bool) {
    guard let newer = garbage[entry] else { return }
    let (own, latest) = (version(entry), version(newer == 0 ? entry : newer))
    problems.expect(
      stamp >= own && stamp <= latest,
      "*retained* has the stamp \(stamp) for the entry of version \(own) at \(entry), behind one of version \(latest)")
    let isTombstone = EntryMeta(raw: data.loadRelaxed(entry + Entry.meta)).isTombstone
    problems.expect(
      hasBit ? isTombstone : !isTombstone || stamp > own,
      "*retained* \(hasBit ? "takes" : "does not take") the entry at \(entry) for a tombstone that the index leads to")
  }

  /// Of an entry that the index leads to.
  private func version(_ entry: Int) -> UInt64 { data.loadRelaxed(entry + Entry.version) }

  /// Takes in what a ring of superseded versions names.
  /// - Returns: its bytes.
  private mutating func meet(_ block: BlockRef, _ stamp: UInt64) -> Int {
    if owners.owner(block.offset) == .entry {
      problems.expect(
        garbage[block.offset] != nil,
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

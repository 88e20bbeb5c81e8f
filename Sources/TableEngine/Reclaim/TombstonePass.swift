/// Takes tombstones out of the index where they lie, without a transaction: *settles* them.
///
/// Once every reader, now and later, reads at or above a tombstone's version, its key is as absent with it as without it. Proof
/// sketch:
/// - That holds for tombstones up to the version ``WriterState/chainsCutAt`` (``InPlacePass``). No reader follows what
///   hangs behind them. So the word that leads to one may be cleared in one store, which changes no version of the
///   table.
/// - A reader that loaded that word before it was cleared announced a version up to the scan's C. A reader that loads
///   the old word later, since the store has not reached it yet, begins at C at most. So the block may be reused once
///   every reader is above C.
/// - A tombstone that a later value superseded may be reused, as any old version, once every reader is at or above that
///   value.
/// - An observer at an older snapshot finds `reclaimed` raised, and starts over.
///
/// After the word, the pass stores into the tombstone's record the stamp: the version from which on its block may be reused. A writer
/// that dies between the two leaves a tombstone to which nothing leads, and the next pass settles it.
///
/// `Models/transaction.pml`, SETTLE, checks this with deaths between any two stores. For the owner of W, outside a
/// transaction: the undo of one would restore a word that leads to a settled tombstone. `reclaimed` was raised to the
/// scan's version before.
struct TombstonePass {
  let state: WriterState

  /// Records looked at in one pass: bounds what a single write may be made to do. More than come between two passes, for what other
  /// processes' passes settled is looked at again: this process knows only how far its own came.
  static let batch = 4 * Collector.threshold

  private var superseded: Ring { state.superseded }

  /// - Returns: how many tombstones were settled, and whether the pass ended at its bound.
  func run(_ scan: ReaderScan) -> (settled: Int, isUnfinished: Bool) {
    let (head, tail) = (superseded.head, superseded.tail)
    // A repair begins the ring anew, at lower positions.
    let start = state.settledUpTo > tail ? head : max(head, state.settledUpTo)
    let end = min(tail, start &+ UInt64(Self.batch))
    var settled = 0
    var counter = start
    while counter < end {
      let stop = min(end, superseded.endOfNeighbours(counter))
      let (reached, count) = settle(counter, stop, scan.committed)
      counter = reached
      settled += count
      if reached < stop { break }
    }
    state.settledUpTo = counter
    return (settled, counter == end && end < tail)
  }

  /// Records that lie side by side: a look at one is little more than a load.
  /// - Returns: the counter that was reached, and how many tombstones were settled. If it is short of `stop`, there
  ///   lies a tombstone that is above the cut: some reader may be at an older version.
  private func settle(_ start: UInt64, _ stop: UInt64, _ committed: UInt64) -> (reached: UInt64, count: Int) {
    let (ctl, cut) = (state.ctl, state.chainsCutAt)
    let first = superseded.position(start)
    let end = first &+ Int(truncatingIfNeeded: stop &- start) &* SupersededRing.recordBytes
    func counter(_ position: Int) -> UInt64 {
      start &+ UInt64(truncatingIfNeeded: (position &- first) / SupersededRing.recordBytes)
    }
    var position = first
    var count = 0
    while position != end {
      if ctl.loadRelaxed(position &+ SupersededRing.stamp) == SupersededRing.unsettled {
        let block = BlockRef(raw: ctl.loadRelaxed(position &+ SupersededRing.block))
        if state.data.loadRelaxed(block.offset &+ Entry.version) > cut { break }
        settle(block, recordedAt: counter(position), position, committed)
        count &+= 1
      }
      position &+= SupersededRing.recordBytes
    }
    state.work.versionsScanned &+= count
    return (counter(position), count)
  }

  @inline(__always)
  private func settle(
    _ block: BlockRef, recordedAt counter: @autoclosure () -> UInt64, _ position: Int, _ committed: UInt64
  ) {
    let hint = TombstoneHint(raw: superseded.ctl.loadRelaxed(position &+ SupersededRing.newer))
    guard let place = state.lookup.word(of: block.offset, at: hint) else {
      return noteSettled(settleFurther(block, recordedAt: counter(), committed), at: position)
    }
    noteSettled(clear(place, committed), at: position)
  }

  @inline(__always)
  private func noteSettled(_ stamp: UInt64, at position: Int) {
    crashFence()
    superseded.ctl.storeRelaxed(position &+ SupersededRing.stamp, stamp)
  }

  /// A tombstone that was superseded, or whose bucket word lies elsewhere by now.
  /// - Returns: the version from which on its block may go.
  @inline(never)
  private func settleFurther(_ block: BlockRef, recordedAt counter: UInt64, _ committed: UInt64) -> UInt64 {
    switch state.neighbour(of: block, recordedAt: counter) {
    case .word(let location): clear(location.place, committed)
    case .newer(let newer): state.data.loadRelaxed(newer &+ Entry.version)
    case .none: committed &+ 1
    }
  }

  @inline(__always)
  private func clear(_ place: Int, _ committed: UInt64) -> UInt64 {
    // PAIR publish-entry. Other end: Lookup.match. Relaxed would do: it leads nowhere.
    state.data.storeRelease(place, BucketWord.deleted)
    return committed &+ 1
  }
}

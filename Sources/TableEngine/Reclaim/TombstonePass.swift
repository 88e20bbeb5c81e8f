/// Takes tombstones out of the index where they lie, without a transaction: *settles* them.
///
/// Once every reader, now and later, reads at or above a tombstone's version, its key is as absent with it as without it. Proof
/// sketch:
/// - ``TableState/chainsCutAt`` is such a version (``InPlacePass``). What hangs behind such a tombstone nobody follows. So the word
///   that leads to it may be cleared in one store, which changes no version of the table.
/// - Who came by that word before announced a version up to the scan's C, and a reader that comes by it although it is cleared
///   (the store has not reached it yet) begins at C at most. So the block may be reused once every reader is above C.
/// - A tombstone that a later value superseded may be reused once every reader is at or above that value, as any old version.
/// - An observer at an older snapshot finds `reclaimed` raised.
///
/// The record's stamp says so, in one store after the word: a writer that dies between the two leaves a tombstone that nothing
/// leads to, and the next pass settles it.
///
/// `Models/transaction.pml`, SETTLE, checks this with deaths between any two stores. For the owner of W, outside a transaction: an
/// undone one would restore a word that leads to a settled tombstone. `reclaimed` was raised to the scan's version before.
struct TombstonePass {
  let state: TableState

  /// Records looked at in one pass: bounds what a single write may be made to do.
  static let batch = 1024

  private var superseded: Ring { state.superseded }

  /// - Returns: how many tombstones were settled.
  func run(_ scan: ReaderScan) -> Int {
    let (head, tail) = (superseded.head, superseded.tail)
    // A repair begins the ring anew, at lower positions.
    let start = state.settledUpTo > tail ? head : max(head, state.settledUpTo)
    let end = min(tail, start &+ UInt64(Self.batch))
    var settled = 0
    var counter = start
    while counter < end {
      if superseded.stamp(counter) == SupersededRing.unsettled {
        let block = superseded.block(counter)
        guard state.data.loadRelaxed(block.offset &+ Entry.version) <= state.chainsCutAt else { break }
        settle(block, counter, scan.committed)
        settled += 1
      }
      counter &+= 1
    }
    state.settledUpTo = counter
    return settled
  }

  private func settle(_ block: BlockRef, _ counter: UInt64, _ committed: UInt64) {
    state.work.versionsScanned &+= 1
    let stamp: UInt64
    switch state.neighbour(of: block) {
    case .word(let location):
      // PAIR chain-prev. Other end: Lookup.visible. Relaxed would do: it leads nowhere.
      state.data.storeRelease(location.wordOffset, BucketWord.deleted)
      stamp = committed &+ 1
    case .newer(let newer):
      stamp = state.data.loadRelaxed(newer &+ Entry.version)
    case .none:
      stamp = committed &+ 1
    }
    crashFence()
    superseded.ctl.storeRelaxed(superseded.position(counter) &+ SupersededRing.stamp, stamp)
  }
}

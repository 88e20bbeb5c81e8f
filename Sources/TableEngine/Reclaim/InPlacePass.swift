/// Frees superseded versions where they hang in their chains, from the oldest on. That takes no store to the
/// superseding entry, no journal record and no second grace period.
///
/// A reader whose snapshot is at least the superseding version never follows the superseding entry's `prev`. Once every
/// reader, now and later, has such a snapshot, the block may be reused although `prev` still names it. Proof sketch:
/// - The bound is the least of C, of the exact snapshots and of what pending readers may yet take. C is part of it since a
///   reader that the scan did not see begins at C or later (I2). So no reader, now or later, has a snapshot below the bound,
///   and a bound that was found once holds for ever.
/// - ``UnlinkPass``, the check and repair walk chains too. ``ControlLayout/chainsCutAt`` is the largest bound so far;
///   none of them follows `prev` of an entry of that version or an older one. It is stored before the first block is
///   freed.
/// - An observer at an older snapshot may follow such a `prev`. It finds `reclaimed` raised and starts over.
/// - What hangs behind a freed version is freed before it: records lie in the order of their stamps.
///
/// `Models/transaction.pml` checks this with deaths between any two stores. For the owner of W; `reclaimed` was raised to the
/// scan's version before.
struct InPlacePass {
  let state: WriterState

  /// Blocks that one pass frees: bounds what a single write may be made to do.
  static let batch = 1024

  /// - Parameter sparing: leaves the versions that this scan found free to a ``Recycler``. Freed are those that earlier
  ///   passes left to it, and that no put has taken.
  /// - Returns: how many blocks became free.
  func run(_ scan: ReaderScan, sparing: Bool = false) -> Int {
    let superseded = state.superseded
    raiseCut(scan)
    let last = state.recyclableUpTo
    // A pin protects what was there when it was made, whatever becomes of its snapshot.
    let recyclable = max(last, min(state.chainsCutAt, scan.lowestPin))
    if recyclable > last { state.ctl.storeRelaxed(ControlLayout.recyclableUpTo, recyclable) }
    let limit = sparing ? last : recyclable
    let freed = FreePass(state: state).free(superseded, atMost: Self.batch) { counter in
      superseded.stamp(counter) <= limit
    }
    // A transaction that commits puts the ring's head where its journal says.
    if state.inTransaction { state.journal.save(JournalLayout.supersededHeadAfter, superseded.head) }
    return freed
  }

  /// Notes how far the readers of the scan, and all later ones, have come.
  func raiseCut(_ scan: ReaderScan) {
    let bound = min(scan.committed, scan.needed.lowestPending, scan.needed.lowestExact)
    guard bound > state.chainsCutAt else { return }
    state.ctl.storeRelaxed(ControlLayout.chainsCutAt, bound)
    // ORDER cut-free. FreePass.free: a writer that dies after the first block is free must leave the chains known to be
    // cut, or its successor walks into memory that belongs to another key.
    crashFence()
  }
}

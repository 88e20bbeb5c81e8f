/// Where a commit pushes what it superseded onto *superseded*: from the tail that the journal saved, as ``LimboTail`` does.
struct SupersededTail {
  private let ring: Ring
  private let ctl: Memory
  private let mask: UInt64
  private let stamp: UInt64
  private let headAfter: UInt64
  private var tail: UInt64

  @inline(__always)
  init(_ state: TableState) {
    ring = state.superseded
    ctl = ring.ctl
    mask = ring.mask
    stamp = state.journal.version
    tail = state.journal.saved(JournalLayout.supersededTail)
    headAfter = state.journal.saved(JournalLayout.supersededHeadAfter)
  }

  /// Pushes a record; see ``SupersededRing``.
  /// - Returns: the block's bytes.
  @inline(__always)
  mutating func push(_ block: BlockRef, newer: UInt64) -> UInt64 {
    let position = ring.region &+ Int(truncatingIfNeeded: tail & mask) &* SupersededRing.recordBytes
    ctl.storeRelaxed(position &+ SupersededRing.block, block.raw)
    ctl.storeRelaxed(position &+ SupersededRing.stamp, stamp)
    ctl.storeRelaxed(position &+ SupersededRing.newer, newer)
    tail &+= 1
    return UInt64(truncatingIfNeeded: block.byteCount)
  }

  /// Makes the pushed records count. After a ``crashFence()``: the records must be there first.
  @inline(__always)
  func publish() {
    ring.setTail(tail)
    ring.setHead(headAfter)
  }
}

/// Where a commit or an undo pushes unlinked blocks onto limbo: from the tail that the journal saved, so that a
/// successor that does it again after a death pushes the same blocks to the same places.
struct LimboTail {
  private let limbo: Ring
  private let stamp: UInt64
  private var tail: UInt64
  private var bytes: UInt64

  init(_ state: TableState) {
    limbo = state.limbo
    stamp = state.journal.version
    tail = state.journal.saved(JournalLayout.limboTail)
    bytes = state.journal.saved(JournalLayout.limboBytes)
  }

  @inline(__always)
  mutating func push(_ block: BlockRef) {
    let position = limbo.position(tail)
    limbo.ctl.storeRelaxed(position + LimboRing.block, block.raw)
    limbo.ctl.storeRelaxed(position + LimboRing.stamp, stamp)
    tail += 1
    bytes += UInt64(block.byteCount)
  }

  /// Makes the pushed records count. After a ``crashFence()``: the records must be there first.
  func publish() {
    limbo.setBytesPushed(bytes)
    limbo.setTail(tail)
  }
}

/// Where a commit or an undo pushes unlinked blocks onto limbo: from the tail that the journal saved, so that a
/// successor that does it again after a death pushes the same blocks to the same places.
struct LimboTail {
  private let limbo: Ring
  private let stamp: UInt64
  private var tail: UInt64
  private var bytes: UInt64

  @inline(__always)
  init(_ state: WriterState) {
    limbo = state.limbo
    stamp = state.journal.version
    tail = state.journal.saved(JournalLayout.limboTail)
    bytes = state.journal.saved(JournalLayout.limboBytes)
  }

  /// - Returns: the block's bytes.
  @inline(__always)
  mutating func push(_ block: BlockRef) -> UInt64 {
    let position = limbo.position(tail)
    let byteCount = UInt64(truncatingIfNeeded: block.byteCount)
    limbo.ctl.storeRelaxed(position &+ LimboRing.block, block.raw)
    limbo.ctl.storeRelaxed(position &+ LimboRing.stamp, stamp)
    tail &+= 1
    bytes &+= byteCount
    return byteCount
  }

  /// Makes the pushed records count. After a ``crashFence()``: the records must be there first.
  @inline(__always)
  func publish() {
    limbo.setBytesPushed(bytes)
    limbo.setTail(tail)
  }
}

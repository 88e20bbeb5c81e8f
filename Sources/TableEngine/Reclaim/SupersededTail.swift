/// Where records are written behind the tail of *superseded*, where none counts until ``publish(_:)``.
///
/// The transaction in flight writes there what it supersedes as it goes (``WriterState/supersededTail``), so that its commit has
/// only to publish them. Nothing reads them before: a death leaves them as bytes that ``Retirement`` writes again, from the
/// journal and from the tail that the journal saved.
struct SupersededTail {
  private(set) var tail: UInt64 = 0
  /// Of the blocks that were pushed.
  private(set) var bytes: UInt64 = 0

  /// - Parameter tail: the ring's.
  @inline(__always)
  init(at tail: UInt64 = 0) { self.tail = tail }

  /// Pushes a record; see ``SupersededRing``. Room for it was reserved.
  @inline(__always)
  mutating func push(_ block: BlockRef, named newer: UInt64, stamp: UInt64, onto ring: Ring) {
    write(block, named: newer, stamp: stamp, onto: ring)
    bytes &+= UInt64(truncatingIfNeeded: block.byteCount)
  }

  /// Pushes a value and the tombstone that took its place. A tombstone has a record of its own: nothing supersedes one that stays at
  /// the head of its chain.
  /// - Parameter byteCount: of both blocks.
  @inline(__always)
  mutating func push(
    _ value: BlockRef, and tombstone: BlockRef, byteCount: Int, at hint: TombstoneHint, version: UInt64, onto ring: Ring
  ) {
    write(value, named: UInt64(truncatingIfNeeded: tombstone.offset), stamp: version, onto: ring)
    write(tombstone, named: hint.raw, stamp: SupersededRing.unsettled, onto: ring)
    bytes &+= UInt64(truncatingIfNeeded: byteCount)
  }

  @inline(__always)
  private mutating func write(_ block: BlockRef, named newer: UInt64, stamp: UInt64, onto ring: Ring) {
    let position = ring.position(tail)
    ring.ctl.storeRelaxed(position &+ SupersededRing.block, block.raw)
    ring.ctl.storeRelaxed(position &+ SupersededRing.stamp, stamp)
    ring.ctl.storeRelaxed(position &+ SupersededRing.newer, newer)
    tail &+= 1
  }

  /// Makes the pushed records count. After a ``crashFence()``: the records must be there first.
  @inline(__always)
  func publish(_ ring: Ring) { ring.setTail(tail) }
}

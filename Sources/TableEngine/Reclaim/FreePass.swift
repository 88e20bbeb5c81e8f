/// The second half of reclaiming: what was unlinked and what no reader can see any more becomes free.
///
/// For the owner of W. The proof is at ``Collector``, the order of the stores in DESIGN.md, "reclaim".
struct FreePass {
  let state: TableState

  /// What a freed block is filled with, if the table was made so. As an entry: of a version above every snapshot, and
  /// linked to an offset beyond every address.
  static let poison: UInt8 = 0xdb

  private var ctl: Memory { state.ctl }
  private var limbo: Ring { state.limbo }

  /// Inside an open barrier that is short of room. Touches only what committed transactions unlinked.
  /// - Returns: how many blocks became free.
  func runForRoom() -> Int {
    if state.variant == .rwlock {
      // Inside the barrier readers are out, but what this transaction unlinked is undo's until the commit: limbo
      // holds only what earlier ones did.
      return run(upTo: .max)
    }
    guard limbo.count > 0, let scan = ReaderScan.take(state) else { return 0 }
    state.raiseReclaimed(scan.committed)
    return run(scan)
  }

  /// Frees what no reader of the scan protects. `reclaimed` was raised to the scan's version before.
  func run(_ scan: ReaderScan) -> Int {
    return run(upTo: min(scan.committed, scan.lowestPin))
  }

  /// Frees limbo's records up to the first with a later stamp.
  ///
  /// ORDER freeend-bits-head. Recoverer.recover finishes a begun pass: `freeEnd` is published before the first bit is
  /// cleared, so after a death the same blocks are cleared again, never fewer and never others.
  func run(upTo stamp: UInt64) -> Int {
    var end = limbo.head
    var bytes = limbo.bytesPopped
    while end != limbo.tail, ctl.loadRelaxed(limbo.position(end) + 8) <= stamp {
      let block = BlockRef(raw: ctl.loadRelaxed(limbo.position(end)))
      state.allocator.prefetch(block)
      bytes += UInt64(block.byteCount)
      end += 1
    }
    let count = Int(end - limbo.head)
    guard count > 0 else { return 0 }
    limbo.setBytesPoppedAfter(bytes)
    crashFence()
    limbo.setFreeEnd(end)
    crashFence()
    finish()
    return count
  }

  /// The second half of a free pass; ``Recoverer`` finishes one that a death cut short.
  func finish() {
    var position = limbo.head
    guard position < limbo.freeEnd else { return }
    let poisons = ctl.loadRelaxed(ControlLayout.poisonsFreedBlocks) != 0
    while position < limbo.freeEnd {
      let block = BlockRef(raw: ctl.loadRelaxed(limbo.position(position)))
      // Before its bits are cleared, and again after a death: until the head moves no writer can have got it anew.
      if poisons { state.data.fill(block.offset, count: block.byteCount, with: Self.poison) }
      state.allocator.release(block)
      state.work.blocksFreed += 1
      position += 1
    }
    crashFence()
    limbo.setBytesPopped(limbo.bytesPoppedAfter)
    limbo.setHead(position)
  }
}

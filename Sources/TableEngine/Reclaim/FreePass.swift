/// The second half of reclaiming: what was unlinked and what no reader can see any more becomes free.
///
/// For the owner of W. The proof is at ``Collector``, the order of the stores in DESIGN.md, "reclaim".
struct FreePass {
  let state: WriterState

  /// What a freed block is filled with, in a table made with `poisonsFreedBlocks`. Read as an entry, it has a version
  /// above every snapshot and a `prev` beyond every address.
  static let poison: UInt8 = 0xdb

  /// Inside an open barrier that is short of room. Touches only what committed transactions superseded and unlinked.
  /// - Returns: how many blocks became free.
  func runForRoom() -> Int {
    if state.variant == .rwlock {
      // What this transaction unlinked is not in limbo: its undo may need that until the commit.
      return runWithoutReaders()
    }
    guard state.limbo.count + state.superseded.count > 0, let scan = ReaderScan.take(state) else { return 0 }
    state.raiseReclaimed(scan.committed)
    return InPlacePass(state: state).run(scan) + run(scan)
  }

  /// Blocks of limbo that one pass frees: bounds what a single write may be made to do.
  static let batch = 1024

  /// Frees what no reader of the scan protects, at most a batch. `reclaimed` was raised to the scan's version before.
  func run(_ scan: ReaderScan) -> Int {
    let limbo = state.limbo
    let stamp = min(scan.committed, scan.lowestPin)
    return free(limbo, atMost: Self.batch) { limbo.stamp($0) <= stamp }
  }

  /// Frees all that limbo holds: in the rwlock variant, where that is what the last transaction unlinked. Readers are kept out.
  func runWithoutReaders() -> Int { free(state.limbo, atMost: .max) { _ in true } }

  /// Frees the blocks of limbo or of *superseded*, from the ring's head on, as long as they may go.
  ///
  /// ORDER freeend-bits-head. Recoverer.recover finishes a begun pass: `freeEnd` is published before the first bit is
  /// cleared, so after a death the same blocks are cleared again, never fewer and never others.
  @inline(__always)
  func free(_ ring: Ring, atMost limit: Int, _ mayGo: (UInt64) -> Bool) -> Int {
    let head = ring.head
    let tail = ring.tail
    var end = head
    var bytes = ring.bytesPopped
    while end != tail, Int(end &- head) < limit, mayGo(end) {
      let block = ring.block(end)
      state.allocator.prefetch(block)
      bytes &+= UInt64(block.byteCount)
      end &+= 1
    }
    guard end != head else { return 0 }
    ring.setBytesPoppedAfter(bytes)
    crashFence()
    ring.setFreeEnd(end)
    crashFence()
    finish(ring)
    return Int(end &- head)
  }

  /// As ``free(_:atMost:_:)``, for the first block of *superseded* alone, which is there and may go.
  @inline(__always)
  func freeFirst(_ head: UInt64, _ block: BlockRef) {
    if let release = quickRelease(of: block) {
      _ = freeFirst(head, block, release)
    } else {
      _ = freeFirst(head, byteCount: block.byteCount) { self.release(block) }
    }
  }

  /// The store that makes the block free, if that is all there is to do. A table that fills its freed blocks has more to do:
  /// with a call for that, though it is never made, the compiler saves a removal's registers on the stack, by 22 instructions.
  @inline(__always)
  func quickRelease(of block: BlockRef) -> Allocator.QuickRelease? {
    block.code < SizeClasses.runCode && !poisons ? Allocator.quickRelease(of: block, state.ctl, state.geometry) : nil
  }

  /// As ``freeFirst(_:_:)``, by the store that ``quickRelease(of:)`` gave. If the writer dies after it, ``finish(_:)`` clears the bit again.
  /// - Returns: the ring's popped bytes, this block's among them.
  @inline(__always)
  func freeFirst(_ head: UInt64, _ block: BlockRef, _ release: Allocator.QuickRelease) -> UInt64 {
    freeFirst(head, byteCount: SizeClasses.size(block.code)) {
      state.ctl.storeRelaxed(release.word, release.left)
      state.work.blocksFreed &+= 1
    }
  }

  /// The order is that of ``free(_:atMost:_:)``.
  @inline(__always)
  private func freeFirst(_ head: UInt64, byteCount: Int, _ release: () -> Void) -> UInt64 {
    let ring = state.superseded
    ring.setBytesPoppedAfter(ring.bytesPopped &+ UInt64(truncatingIfNeeded: byteCount))
    crashFence()
    ring.setFreeEnd(head &+ 1)
    crashFence()
    release()
    crashFence()
    let bytesPopped = ring.bytesPoppedAfter
    ring.setBytesPopped(bytesPopped)
    ring.setHead(head &+ 1)
    return bytesPopped
  }

  /// The second half of a free pass; ``Recoverer`` finishes one that a death cut short.
  func finish(_ ring: Ring) {
    var position = ring.head
    guard position < ring.freeEnd else { return }
    while position < ring.freeEnd {
      release(ring.block(position))
      position &+= 1
    }
    crashFence()
    ring.setBytesPopped(ring.bytesPoppedAfter)
    ring.setHead(position)
  }

  @inline(__always)
  private func release(_ block: BlockRef) {
    // Before its bits are cleared, and again after a death: until the head moves no writer can have got it anew.
    poisonIfAsked(block)
    state.allocator.release(block)
    state.work.blocksFreed &+= 1
  }

  @inline(__always)
  private var poisons: Bool { state.ctl.loadRelaxed(ControlLayout.poisonsFreedBlocks) != 0 }

  /// Fills a block that no reader may look at any more, in a table made with `poisonsFreedBlocks`. A reader that uses
  /// it all the same is found by that.
  @inline(__always)
  func poisonIfAsked(_ block: BlockRef) {
    if _slowPath(poisons) { state.data.fill(block.offset, count: block.byteCount, with: Self.poison) }
  }
}

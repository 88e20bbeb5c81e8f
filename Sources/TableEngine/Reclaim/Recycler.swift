/// Gives a put the block of the oldest superseded version, if no reader can come to that version any more. The block's
/// bits stay set, so the put needs neither a ``FreePass`` nor a search in the bitmaps.
///
/// ``InPlacePass`` says by a stamp which versions may be recycled: those up to ``WriterState/recyclableUpTo``. This bound
/// holds for ever, since no later reader begins below it, and `reclaimed` was raised as far before.
///
/// ORDER record-head. Recoverer.finishRecycling: the journal names the block, between ``nextBlock(code:)`` and ``recycle(_:)``,
/// before the ring's head moves past it. A writer that dies between the two leaves the block named twice. If the head
/// moved first, the block would be named nowhere, and lost for good.
/// `Models/transaction.pml`, RECYCLE, checks this with deaths between any two stores.
struct Recycler {
  let state: WriterState

  /// How many blocks of other sizes one call may make free to come to one that fits. Without it such a block at the head would
  /// keep all behind it from being taken until the next pass.
  private static let detours = 2

  private var superseded: Ring { state.superseded }

  /// Is the oldest superseded version one that may be recycled? A tombstone that is not settled is none: it may still be the newest
  /// of its key.
  var hasStock: Bool { first(superseded.head) != nil }

  /// The block of the ring's first record, if it may be taken.
  @inline(__always)
  private func first(_ head: UInt64) -> BlockRef? {
    block(head, superseded.mask, tail: superseded.tail, upTo: state.recyclableUpTo)
  }

  /// The block of one of the ring's first two records, if it may be taken. A caller that asks for both loads once what is the same.
  @inline(__always)
  private func block(
    _ counter: UInt64, _ mask: UInt64, tail: @autoclosure () -> UInt64, upTo: @autoclosure () -> UInt64
  ) -> BlockRef? {
    let position = superseded.position(counter, mask)
    guard _fastPath(counter != tail()),
      _fastPath(superseded.ctl.loadRelaxed(position &+ SupersededRing.stamp) <= upTo())
    else { return nil }
    return BlockRef(raw: superseded.ctl.loadRelaxed(position &+ SupersededRing.block))
  }

  /// A block that was found, and what the ring says once it has left.
  struct Find {
    let block: BlockRef
    fileprivate let head: UInt64
    fileprivate let bytesPopped: UInt64
  }

  /// The ring's first block for a value, if it is of this size code: the caller's as soon as the journal names it and ``recycle(_:)``
  /// was called. May first make up to two blocks of other sizes free that lie before it.
  ///
  /// Only blocks in slabs, and none of the reserve: tombstones lie there, and a value that took one's place would never leave it, so that in the
  /// end a full table could not remove a key.
  @inline(__always)
  func nextBlock(code: Int) -> Find? {
    guard code < SizeClasses.runCode else { return nil }
    let head = superseded.head
    guard let block = first(head) else { return nil }
    return block.code == code && _fastPath(block < state.reserveStart)
      ? found(block, head) : nextFurther(block, head, code, before: state.reserveStart, detours: Self.detours)
  }

  /// As ``nextBlock(code:)``, for a tombstone, which may take a block of the reserve. At the head lies the value that an earlier removal
  /// superseded, and behind it nearly always that one's tombstone. Both are looked at before the value's block is made free.
  @inline(__always)
  func nextBlockForTombstone(code: Int) -> Find? {
    guard code < SizeClasses.runCode else { return nil }
    let (head, mask, tail, upTo) = (superseded.head, superseded.mask, superseded.tail, state.recyclableUpTo)
    guard let block = block(head, mask, tail: tail, upTo: upTo) else { return nil }
    if block.code == code { return found(block, head) }
    guard let next = self.block(head &+ 1, mask, tail: tail, upTo: upTo), next.code == code,
      let release = FreePass(state: state).quickRelease(of: block)
    else { return nextFurther(block, head, code, before: BlockRef(raw: .max), detours: Self.detours) }
    let bytesPopped = FreePass(state: state).freeFirst(head, block, release)
    state.journal.save(JournalLayout.supersededHeadAfter, head &+ 1)
    return found(next, head &+ 1, bytesPopped: bytesPopped)
  }

  @inline(__always)
  private func found(_ block: BlockRef, _ head: UInt64) -> Find {
    found(block, head, bytesPopped: superseded.bytesPopped)
  }

  @inline(__always)
  private func found(_ block: BlockRef, _ head: UInt64, bytesPopped: UInt64) -> Find {
    let bytesPopped = bytesPopped &+ UInt64(truncatingIfNeeded: SizeClasses.size(block.code))
    superseded.setBytesPoppedAfter(bytesPopped)
    return Find(block: block, head: head &+ 1, bytesPopped: bytesPopped)
  }

  /// Makes the ring's first block free, which does not fit, and the one behind it if need be.
  /// - Parameter end: behind which no block fits.
  @inline(never)
  private func nextFurther(
    _ other: BlockRef, _ otherHead: UInt64, _ code: Int, before end: BlockRef, detours: Int
  ) -> Find? {
    FreePass(state: state).freeFirst(otherHead, other)
    let head = otherHead &+ 1
    state.journal.save(JournalLayout.supersededHeadAfter, head)
    guard let block = first(head) else { return nil }
    if block.code == code, block < end { return found(block, head) }
    return detours > 1 ? nextFurther(block, head, code, before: end, detours: detours &- 1) : nil
  }

  /// Moves the ring's head past the found block, which the journal names by now.
  @inline(__always)
  func recycle(_ find: Find) {
    FreePass(state: state).poisonIfAsked(find.block)
    leave(head: find.head, bytesPopped: find.bytesPopped)
    state.work.blocksRecycled &+= 1
  }

  /// Moves the ring's head past the block that the journal's last allocation names, for a writer that died before it
  /// did so.
  func finish() { leave(head: superseded.head &+ 1, bytesPopped: superseded.bytesPoppedAfter) }

  @inline(__always)
  private func leave(head: UInt64, bytesPopped: UInt64) {
    superseded.setBytesPopped(bytesPopped)
    superseded.setHead(head)
    // The commit puts the head where the journal says.
    state.journal.save(JournalLayout.supersededHeadAfter, head)
  }
}

/// What leads to an old version in its key's chain. Found from the chain's head: since the version was recorded, its neighbour may
/// have changed.
enum ChainNeighbour {
  /// It is the newest of its key: this bucket word leads to it.
  case word(Location)
  /// This entry's `prev` does.
  case newer(Int)
  /// Nothing that a reader follows, now or later.
  case none
}

extension WriterState {
  /// Under W.
  /// - Parameter counter: of the tombstone's record in *superseded*, if the block is that of a tombstone which has one.
  func neighbour(of block: BlockRef, recordedAt counter: UInt64? = nil) -> ChainNeighbour {
    let x = block.offset
    let meta = EntryMeta(raw: data.loadRelaxed(x &+ Entry.meta))
    let key = unsafe data.pointer(x &+ meta.keyOffset)
    let location = unsafe lookup.locate(key, meta.keyLength, hash: hashOfEntry(x, meta))
    let head = BucketWord.offset(location.word)
    if head == x { return .word(location) }
    guard let newer = newer(than: x, from: head, recordedAt: counter) else { return .none }
    return .newer(newer)
  }

  /// The entry whose `prev` is x, in the chain that begins at `head`; nil if the chain is cut before it comes to x.
  private func newer(than x: Int, from head: Int, recordedAt counter: UInt64?) -> Int? {
    var newer = head
    var steps = 0
    while newer != 0 {
      work.versionsScanned += 1
      steps += 1
      if steps == Self.stepsAlongChain, let counter, let found = entry(after: x, recordedAfter: counter) {
        return found
      }
      let next = Int(data.loadRelaxed(newer + Entry.prev))
      // x is older than `newer`, or the walk would have met it before. So x was in use when `newer` was made, and a
      // `prev` that names x means it, even where the chain is cut.
      if next == x { return newer }
      if data.loadRelaxed(newer + Entry.version) <= chainsCutAt { return nil }
      newer = next
    }
    return nil
  }

  /// Steps along a chain after which the neighbour is looked for in *superseded*.
  private static var stepsAlongChain: Int { 32 }
  /// Records of *superseded* that are looked at then.
  private static var recordsLookedAt: UInt64 { 256 }

  /// The entry whose `prev` is x, where it has been superseded too and its record follows soon. Without this look, a key that was set and
  /// removed n times while a reader stood still would cost the passes after it n walks along n versions.
  ///
  /// An entry that is no newer than x may name x by a `prev` that is not followed any more, from before x took that block.
  private func entry(after x: Int, recordedAfter counter: UInt64) -> Int? {
    let version = data.loadRelaxed(x &+ Entry.version)
    let end = min(superseded.tail, counter &+ 1 &+ Self.recordsLookedAt)
    var next = counter &+ 1
    while next < end {
      work.versionsScanned += 1
      let entry = superseded.block(next).offset
      if data.loadRelaxed(entry &+ Entry.prev) == UInt64(x), data.loadRelaxed(entry &+ Entry.version) > version {
        return entry
      }
      next &+= 1
    }
    return nil
  }
}

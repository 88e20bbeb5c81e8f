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
  func neighbour(of block: BlockRef) -> ChainNeighbour {
    let x = block.offset
    let meta = EntryMeta(raw: data.loadRelaxed(x &+ Entry.meta))
    let key = unsafe data.pointer(x &+ meta.keyOffset)
    let location = unsafe lookup.locate(key, meta.keyLength, hash: hashOfEntry(x, meta))
    let head = BucketWord.offset(location.word)
    if head == x { return .word(location) }
    guard let newer = newer(than: x, from: head) else { return .none }
    return .newer(newer)
  }

  /// The entry whose `prev` is x, in the chain that begins at `head`; nil if the chain is cut before it comes to x.
  private func newer(than x: Int, from head: Int) -> Int? {
    var newer = head
    while newer != 0 {
      work.versionsScanned += 1
      let next = Int(data.loadRelaxed(newer + Entry.prev))
      // x is older than `newer`, or the walk would have met it before. So x was in use when `newer` was made, and a
      // `prev` that names x means it, even where the chain is cut.
      if next == x { return newer }
      if data.loadRelaxed(newer + Entry.version) <= chainsCutAt { return nil }
      newer = next
    }
    return nil
  }
}

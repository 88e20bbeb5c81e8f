/// Room for keys whose sub-table cannot be split any further: their hashes were crafted to agree in many bits, or the
/// directory is as deep as it can be. A search for such a key looks through whole sub-tables, one behind the other
/// (``Lookup/newestDeep(_:_:hash:subTable:)``).
extension Splitter {
  /// Rebuilds a sub-table of the greatest depth so that its keys may lie in any of its buckets.
  func rebuildDeep(_ old: DirectoryWord, hash: UInt64) throws(EngineError) {
    let block = try transaction.allocate(byteCount: SubTable.deepByteCount)
    data.zero(block.offset, count: SubTable.deepByteCount)
    forEachWord(in: old.offset) { word, hash in
      _ = insert(word, hash: hash, into: block.offset, steps: SubTable.bucketCount)
    }
    replace(old, hash: hash, by: DirectoryWord(subTable: block.offset, depth: old.bits, deep: true))
    transaction.retire(BlockRef(offset: old.offset, code: SizeClasses.code(byteCount: SubTable.byteCount)))
  }

  /// Hangs an empty deep sub-table behind a full one.
  func linkFurther(_ subTable: Int) throws(EngineError) {
    let block = try transaction.allocate(byteCount: SubTable.deepByteCount)
    data.zero(block.offset, count: SubTable.deepByteCount)
    journal.append(.fill, offset: subTable + SubTable.link, count: 1, value: 0)
    // PAIR publish-link. Other end: Lookup.newestDeep. Release: a reader that finds the link finds the empty sub-table zeroed.
    data.storeRelease(subTable + SubTable.link, UInt64(block.offset))
  }
}

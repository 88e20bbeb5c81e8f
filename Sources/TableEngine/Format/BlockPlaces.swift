import CShims

/// The places in *data* where a block or an entry may lie: the one answer for all who look at an offset that they do not believe yet (recovery,
/// check, salvage, statistics, compaction). It says nothing of what does lie there.
///
/// Observers bound what they read by ``ObserverLookup/require(_:_:alignment:_:)``: their end of the table is what they have
/// seen published, and moves.
struct BlockPlaces {
  let geometry: Geometry
  /// Where the units that there are end.
  let end: Int

  /// May an entry's header be read here?
  func mayHoldEntry(at offset: Int) -> Bool {
    offset % 16 == 0 && offset >= geometry.unitsOffset && offset <= end - Entry.headerBytes
  }

  /// Is a block of this size code within the units? Where there is no such code, it is not.
  func contains(_ offset: Int, code: Int) -> Bool {
    SizeClasses.isCode(code) && offset >= geometry.unitsOffset && SizeClasses.byteCount(code: code) <= end - offset
  }

  /// Does a block of this size code, which lies within the units, begin where one can: in a slab at a multiple of its size,
  /// else at a frame?
  func isOnGrid(_ offset: Int, code: Int) -> Bool {
    let position = offset - geometry.unitsOffset
    guard code < SizeClasses.runCode else { return position % SizeClasses.frameBytes == 0 }
    let within = position % SizeClasses.slabBytes
    return within % SizeClasses.size(code) == 0
      && SizeClasses.indexInSlab(within, code) < SizeClasses.blocksPerSlab(code)
  }

  /// May a block of this size code lie here?
  func mayHoldBlock(at offset: Int, code: Int) -> Bool { contains(offset, code: code) && isOnGrid(offset, code: code) }
}

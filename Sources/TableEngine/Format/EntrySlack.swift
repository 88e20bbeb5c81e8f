import CShims

/// An entry that lies in a larger block than it needs (`SHM_ENTRY_SLACK`). Only ``Evacuation`` stores such entries: what replaced a larger
/// value leaves the reserve for any larger block, such as that value's, if no block of its own size is free.
///
/// The word that says the block's size code lies behind the value: a larger block always has room for it, since sizes of blocks are
/// multiples of 16.
enum EntrySlack {
  /// Where the size code lies, counted from the entry.
  static func codeOffset(_ meta: EntryMeta) -> Int { (meta.byteCount + 7) & ~7 }

  /// The sizes of block that may hold the entry if none of its own is free, by their codes, smallest first; none for one that takes a run
  /// of frames itself, since a longer run has its room, too.
  static func codes(for meta: EntryMeta) -> [Int] {
    let code = SizeClasses.code(byteCount: meta.byteCount)
    guard code < SizeClasses.runCode else { return [] }
    let frames = (codeOffset(meta) + 8 + SizeClasses.frameBytes - 1) / SizeClasses.frameBytes
    return Array(code + 1..<SizeClasses.count) + [SizeClasses.runCode + frames]
  }
}

extension BlockPlaces {
  /// The size code of an entry's block, by what the entry itself says. Nil if that cannot be: the entry, which ends within the units, is damaged,
  /// or the bytes are no entry's.
  func code(ofEntry entry: Int, _ meta: EntryMeta, _ data: MappedMemory) -> Int? {
    let least = SizeClasses.code(byteCount: meta.byteCount)
    guard meta.hasSlack else { return least }
    let position = entry + EntrySlack.codeOffset(meta)
    guard position <= end - 8 else { return nil }
    let word = data.loadRelaxed(position)
    // Any number may stand there: of a larger one not even the size can be computed.
    guard word <= UInt64(SizeClasses.runCode + (end - entry) / SizeClasses.frameBytes) else { return nil }
    let code = Int(word)
    guard contains(entry, code: code), code != least else { return nil }
    return SizeClasses.byteCount(code: code) >= EntrySlack.codeOffset(meta) + 8 ? code : nil
  }
}

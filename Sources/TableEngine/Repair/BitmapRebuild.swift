import CShims

/// The allocator's bitmaps as repair makes them anew, of the blocks whose owners it has found.
struct BitmapRebuild {
  let geometry: Geometry
  let unitCount: Int
  /// Of each superframe: 0 = unused, a size class + 1, or ``frames``.
  private(set) var kinds: [UInt8]
  /// Per slab 512 bits, set = in use.
  private(set) var slabs: [UInt64]
  /// Per unit 1,024 bits, set = in use.
  private(set) var frames: [UInt64]
  /// Per unit 1,024 bits, set = the first frame of a run.
  private(set) var runStarts: [UInt64]

  static let frames: UInt8 = 255
  private static let slabWords = UnitLayout.usedBytesPerSlab / 8

  init(geometry: Geometry, unitCount: Int) {
    self.geometry = geometry
    self.unitCount = unitCount
    let superframes = unitCount * Geometry.superframesPerUnit
    kinds = Array(repeating: 0, count: superframes)
    slabs = Array(repeating: 0, count: superframes * Self.slabWords)
    frames = Array(repeating: 0, count: unitCount * UnitLayout.frameWords)
    runStarts = frames
  }

  /// The end of what there is.
  var limit: Int { geometry.unitOffset(unitCount) }
  var blockPlaces: BlockPlaces { BlockPlaces(geometry: geometry, end: limit) }

  /// What holds a block of this size: a kind of superframe.
  static func kind(code: Int) -> UInt8 {
    code < SizeClasses.runCode ? UInt8(code + 1) : frames
  }

  /// As many units as have anything in use, from the first on.
  var usedUnitCount: Int {
    let lastFrames = frames.lastIndex { $0 != 0 }.map { $0 / UnitLayout.frameWords } ?? -1
    let lastSlab = slabs.lastIndex { $0 != 0 }.map { $0 / (Self.slabWords * Geometry.superframesPerUnit) } ?? -1
    return max(lastFrames, lastSlab) + 1
  }

  func superframe(_ offset: Int) -> Int { (offset - geometry.unitsOffset) / SizeClasses.slabBytes }

  /// Could a block of this size begin here?
  func isPlace(_ offset: Int, byteCount: Int) -> Bool {
    blockPlaces.mayHoldBlock(at: offset, code: SizeClasses.code(byteCount: byteCount))
  }

  /// The size code of the block of an entry that ends within the units; nil if it cannot lie here.
  func code(ofEntry entry: Int, _ meta: EntryMeta, _ data: MappedMemory) -> Int? {
    guard let code = blockPlaces.code(ofEntry: entry, meta, data),
      blockPlaces.mayHoldBlock(at: entry, code: code)
    else { return nil }
    return code
  }

  /// Enters a block.
  /// - Returns: false, and nothing is entered, if it is impossible or some of it is in use.
  mutating func enter(_ offset: Int, byteCount: Int) -> Bool {
    enter(BlockRef(offset: offset, code: SizeClasses.code(byteCount: byteCount)))
  }

  /// As ``enter(_:byteCount:)``.
  mutating func enter(_ block: BlockRef) -> Bool {
    let (offset, code) = (block.offset, block.code)
    guard blockPlaces.mayHoldBlock(at: offset, code: code) else { return false }
    guard code < SizeClasses.runCode else { return enterFrames(offset, count: code - SizeClasses.runCode) }
    let superframe = superframe(offset)
    guard kinds[superframe] == 0 || kinds[superframe] == UInt8(code + 1) else { return false }
    let (word, bit) = slabBit(offset, code)
    guard slabs[word] & bit == 0 else { return false }
    kinds[superframe] = UInt8(code + 1)
    slabs[word] |= bit
    return true
  }

  private mutating func enterFrames(_ offset: Int, count: Int) -> Bool {
    let first = (offset - geometry.unitsOffset) / SizeClasses.frameBytes
    for frame in first..<(first + count) {
      let kind = kinds[frame / Geometry.framesPerSuperframe]
      guard kind == 0 || kind == Self.frames, frames[frame / 64] & (1 << UInt64(frame % 64)) == 0 else { return false }
    }
    for frame in first..<(first + count) {
      kinds[frame / Geometry.framesPerSuperframe] = Self.frames
      frames[frame / 64] |= 1 << UInt64(frame % 64)
    }
    runStarts[first / 64] |= 1 << UInt64(first % 64)
    return true
  }

  /// Says in advance what a superframe is: blocks of another class are refused in it.
  mutating func setKind(_ superframe: Int, _ kind: UInt8) { kinds[superframe] = kind }

  /// Takes back a block.
  mutating func remove(_ block: BlockRef) {
    let (offset, code) = (block.offset, block.code)
    guard code < SizeClasses.runCode else {
      let first = (offset - geometry.unitsOffset) / SizeClasses.frameBytes
      for frame in first..<(first + code - SizeClasses.runCode) { frames[frame / 64] &= ~(1 << UInt64(frame % 64)) }
      runStarts[first / 64] &= ~(1 << UInt64(first % 64))
      return
    }
    let (word, bit) = slabBit(offset, code)
    slabs[word] &= ~bit
  }

  private func slabBit(_ offset: Int, _ code: Int) -> (word: Int, bit: UInt64) {
    let index = SizeClasses.indexInSlab((offset - geometry.unitsOffset) % SizeClasses.slabBytes, code)
    return (superframe(offset) * Self.slabWords + index / 64, 1 << UInt64(index % 64))
  }
}

extension Allocator {
  /// Makes descriptors, hints and sizes say what the map says. Under W, with the table marked damaged: a crash on
  /// the way leaves nothing that any process believes.
  ///
  /// The table keeps its units, and those behind them in which blocks were found. Others it has given back to the system, or never
  /// had: to claim these would ask for memory that may not be there.
  func rebuild(_ map: BitmapRebuild) throws(EngineError) {
    let units = min(map.unitCount, max(1, unitCount, map.usedUnitCount))
    try backing.allocateControl(offset: geometry.descriptorsOffset, count: units * UnitLayout.byteCount)
    try backing.allocateData(offset: geometry.unitsOffset, count: units * Geometry.unitBytes)
    ctl.zero(geometry.summaryOffset, count: Summary.count * (geometry.summaryWords + geometry.summaryTopWords) * 8)
    for unit in 0..<units { rebuild(unit, map) }
    // The number of units may rise by many. Whoever opens the table demands a published size that covers all of them but the last, so the
    // published size rises first: if this process died between the two stores, nobody could open the table, and so nobody could repair it.
    let published = data.loadRelaxed(DataLayout.publishedBytes)
    data.storeRelease(DataLayout.publishedBytes, max(published, UInt64(geometry.unitOffset(units))))
    ctl.storeRelease(ControlLayout.units, UInt64(units))
    publishUnits()
  }

  private func rebuild(_ unit: Int, _ map: BitmapRebuild) {
    let descriptor = geometry.descriptor(unit)
    ctl.zero(descriptor, count: UnitLayout.byteCount)
    for word in 0..<UnitLayout.frameWords {
      ctl.storeRelaxed(descriptor + UnitLayout.frameFree + word * 8, ~map.frames[unit * UnitLayout.frameWords + word])
      ctl.storeRelaxed(descriptor + UnitLayout.runStart + word * 8, map.runStarts[unit * UnitLayout.frameWords + word])
    }
    for superframe in 0..<Geometry.superframesPerUnit {
      let kind = map.kinds[unit * Geometry.superframesPerUnit + superframe]
      guard kind != 0, kind != BitmapRebuild.frames else { continue }
      let words = UnitLayout.usedBytesPerSlab / 8
      let first = (unit * Geometry.superframesPerUnit + superframe) * words
      // Everything in it was dropped: no slab.
      guard map.slabs[first..<(first + words)].contains(where: { $0 != 0 }) else { continue }
      ctl.storeByte(descriptor + UnitLayout.kind + superframe, kind)
      for word in 0..<words { ctl.storeRelaxed(usedBits(unit, superframe) + word * 8, map.slabs[first + word]) }
      ctl.setBit(superframe, at: descriptor + UnitLayout.partial + Int(kind - 1) * 8)
      unitHints.set(Int(kind - 1), unit)
    }
    // Lowered by the first searches.
    runBounds.raise(unit, to: 2 * Geometry.framesPerUnit)
    unitHints.set(Summary.freeSuperframe, unit)
  }
}

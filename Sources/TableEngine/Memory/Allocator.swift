import CShims

/// Hands out blocks of the data object. Used under W only; its state is bitmaps and hints in *ctl*.
///
/// What the index and the transactions rely on:
/// - `find…` changes nothing but hints; `mark` sets a found block's bits and `release` clears them, both idempotent.
///   Between them the caller writes the journal, so that every block in use is named somewhere (I6).
/// - A slab is made and unmade by one store to its `kind`. Its frames' bits stay *free* meanwhile: `kind` decides.
/// - Hints are supersets of the truth, and bounds of runs never too low. Each search proves what one says, and corrects it when it
///   lied.
/// - The end of the last unit is for a ``Purpose`` of its own: the reserve (`Allocator+Reserve.swift`).
///
/// A class, though nothing in it changes: what it is made of would be copied onto the stack for each call.
final class Allocator: Sendable {
  let ctl: MappedMemory
  let geometry: Geometry
  let backing: BackingPages
  let data: MappedMemory
  let work: WorkCounters
  let recent = RecentSlabs()
  let unitHints: UnitHints
  let runBounds: RunBounds

  init(ctl: MappedMemory, geometry: Geometry, backing: BackingPages, data: MappedMemory, work: WorkCounters) {
    self.ctl = ctl
    self.geometry = geometry
    self.backing = backing
    self.data = data
    self.work = work
    unitHints = UnitHints(ctl: ctl, geometry: geometry, work: work)
    runBounds = RunBounds(ctl: ctl, geometry: geometry)
  }

  /// Units whose pages are allocated and whose descriptors are valid.
  var unitCount: Int { Int(clamping: ctl.loadRelaxed(ControlLayout.units)) }

  /// A free block of this size code, growing the table if need be; its bits are not set yet.
  /// - Throws: `full(.capacity)`, `full(.fileSystem)`.
  func find(code: Int, for purpose: Purpose) throws(EngineError) -> BlockRef {
    if code < SizeClasses.runCode {
      while true {
        if let block = findInSlab(code, purpose) ?? findInNewSlab(code, purpose) {
          noteRecent(block)
          return block
        }
        try growOneUnit()
      }
    }
    let frames = code - SizeClasses.runCode
    return frames == Geometry.framesPerSuperframe
      ? try findSuperframeRun(purpose) : try findRun(frames: frames, purpose)
  }

  /// Has the table grow if no block of this size code is free for all purposes, as a barrier would that seeks the block.
  /// - Returns: whether there is one now.
  func ensureRoom(for code: Int) -> Bool {
    guard SizeClasses.isCode(code) else { return false }
    do { _ = try find(code: code, for: .anything) } catch { return false }
    return true
  }

  /// Has later searches look at the block's slab first. A slab of the reserve is not noted: what is found in a noted slab is for
  /// everybody.
  private func noteRecent(_ block: BlockRef) {
    let superframe = (block.offset - geometry.unitsOffset) / SizeClasses.slabBytes
    if superframe < firstReservedSuperframe { recent[block.code] = superframe }
  }

  /// Sub-tables are asked for so often that they may not pay for a search along the units: an aligned superframe, a new unit, and only
  /// where the table cannot grow (at its capacity, or in a full file system) as many frames in a row.
  private func findSuperframeRun(_ purpose: Purpose) throws(EngineError) -> BlockRef {
    while true {
      if let (unit, superframe) = findSuperframe(purpose) {
        return BlockRef(
          offset: geometry.unitOffset(unit) + superframe * SizeClasses.slabBytes,
          code: SizeClasses.runCode + Geometry.framesPerSuperframe)
      }
      do throws(EngineError) { try growOneUnit() } catch {
        guard let run = firstRun(frames: Geometry.framesPerSuperframe, purpose) else { throw error }
        return run
      }
    }
  }

  /// Sets the block's bits. Idempotent.
  func mark(_ block: BlockRef) {
    let (unit, within) = place(block.offset)
    if block.code < SizeClasses.runCode {
      let superframe = within / SizeClasses.slabBytes
      let index = SizeClasses.indexInSlab(within % SizeClasses.slabBytes, block.code)
      ctl.setBit(index, at: usedBits(unit, superframe))
    } else {
      markRun(block)
    }
  }

  /// Prefetches the bits that ``release(_:)`` will clear, while those of other blocks are on their way too.
  @inline(__always)
  func prefetch(_ block: BlockRef) {
    let (unit, within) = place(block.offset)
    unsafe shm_prefetch(ctl.pointer(usedBits(unit, within / SizeClasses.slabBytes)))
  }

  /// Clears the block's bits, and unmakes its slab if that was the last block in it. Idempotent as long as
  /// nothing was allocated in between, which the free pass and recovery see to.
  func release(_ block: BlockRef) {
    guard block.code < SizeClasses.runCode else { return releaseRun(block) }
    let (unit, within) = place(block.offset)
    // Hints first: were they set after the bit, a crash between would hide the room for ever.
    hintRoom(unit, within / SizeClasses.slabBytes, block.code)
    clear(block, unit, within)
  }

  /// The one store that nearly every ``release(_:)`` of a block in a slab consists of.
  struct QuickRelease {
    /// Of the slab's used blocks, this one among them; a control offset.
    let word: Int
    /// What is left of it: never 0.
    let left: UInt64
  }

  /// The store that makes a block in a slab free, if nothing else has to be done: the hints that there is room are set, and another
  /// block of the same word of bits is in use, so that the slab stays. Stores nothing itself.
  ///
  /// Static, with what it needs as arguments: an allocator's own would have to be loaded, by two instructions.
  @inline(__always)
  static func quickRelease(of block: BlockRef, _ ctl: MappedMemory, _ geometry: Geometry) -> QuickRelease? {
    // By powers of two, unsigned, the divisions are shifts.
    let position = UInt(bitPattern: block.offset &- geometry.unitsOffset)
    let descriptor = geometry.descriptor(Int(bitPattern: position / UInt(Geometry.unitBytes)))
    let superframe = Int(bitPattern: position % UInt(Geometry.unitBytes) / UInt(SizeClasses.slabBytes))
    guard ctl.bit(superframe, at: descriptor &+ UnitLayout.partial &+ block.code &* 8) else { return nil }
    let index = SizeClasses.indexInSlab(Int(bitPattern: position % UInt(SizeClasses.slabBytes)), block.code)
    let word = descriptor &+ UnitLayout.used &+ superframe &* UnitLayout.usedBytesPerSlab &+ (index >> 6) &* 8
    let left = MappedMemory.without(index & 63, ctl.loadRelaxed(word))
    return left != 0 ? QuickRelease(word: word, left: left) : nil
  }

  @inline(__always)
  private func clear(_ block: BlockRef, _ unit: Int, _ within: Int) {
    let superframe = within / SizeClasses.slabBytes
    let used = usedBits(unit, superframe)
    ctl.clearBit(SizeClasses.indexInSlab(within % SizeClasses.slabBytes, block.code), at: used)
    if ctl.loadRelaxed(used) == 0, isEmpty(used) { unmakeSlab(unit, superframe) }
  }

  /// Says that a slab has room.
  ///
  /// ORDER unit-partial. Allocator.quickRelease takes the slab's hint for both: it never stands without its unit's, which is set
  /// before it, and cleared when no slab's stands.
  @inline(__always)
  private func hintRoom(_ unit: Int, _ superframe: Int, _ sizeClass: Int) {
    unitHints.set(sizeClass, unit)
    crashFence()
    ctl.setBit(superframe, at: partial(unit, sizeClass))
    crashFence()
  }

  /// - Returns: whether the slab had no block in use, so that its superframe is free now.
  func unmakeSlabIfEmpty(_ unit: Int, _ superframe: Int) -> Bool {
    guard isEmpty(usedBits(unit, superframe)) else { return false }
    unmakeSlab(unit, superframe)
    return true
  }

  @inline(__always)
  private func unmakeSlab(_ unit: Int, _ superframe: Int) {
    unitHints.set(Summary.freeSuperframe, unit)
    boundRuns(freeing: FrameWindow.frames(ofSuperframe: unit * Geometry.superframesPerUnit + superframe))
    crashFence()
    ctl.storeByte(geometry.descriptor(unit) + UnitLayout.kind + superframe, 0)
  }

  /// Is every bit of the block set? For checks.
  func isMarked(_ block: BlockRef) -> Bool {
    let (unit, within) = place(block.offset)
    guard unit < unitCount else { return false }
    if block.code < SizeClasses.runCode {
      let superframe = within / SizeClasses.slabBytes
      return kind(unit, superframe) == block.code + 1
        && ctl.bit(
          SizeClasses.indexInSlab(within % SizeClasses.slabBytes, block.code), at: usedBits(unit, superframe))
    }
    for frame in frames(block) where isFree(frame: frame) { return false }
    return true
  }

  // MARK: - Places

  @inline(__always)
  private func place(_ offset: Int) -> (unit: Int, within: Int) {
    // Never negative: by a power of two, unsigned, a division is a shift.
    let position = UInt(bitPattern: offset &- geometry.unitsOffset)
    return (
      Int(bitPattern: position / UInt(Geometry.unitBytes)), Int(bitPattern: position % UInt(Geometry.unitBytes))
    )
  }

  func kind(_ unit: Int, _ superframe: Int) -> Int {
    Int(ctl.byte(geometry.descriptor(unit) &+ UnitLayout.kind &+ superframe))
  }

  func usedBits(_ unit: Int, _ superframe: Int) -> Int {
    geometry.descriptor(unit) &+ UnitLayout.used &+ superframe &* UnitLayout.usedBytesPerSlab
  }

  /// The hints of which slabs of a class have room.
  @inline(__always)
  func partial(_ unit: Int, _ sizeClass: Int) -> Int {
    geometry.descriptor(unit) &+ UnitLayout.partial &+ sizeClass &* 8
  }

  private func isEmpty(_ used: Int) -> Bool {
    for word in 0..<8 where ctl.loadRelaxed(used + word * 8) != 0 { return false }
    return true
  }

  // MARK: - Slabs

  /// A free block in the slab that gave the last one of this size code, if any: to be tried before ``find(code:for:)``.
  @inline(__always)
  func findInRecentSlab(_ sizeClass: Int) -> BlockRef? {
    guard sizeClass < SizeClasses.runCode else { return nil }
    let place = recent[sizeClass]
    // Another process may have shrunk the table since: then the slab's place may belong to the reserve, or to no unit.
    guard place >= 0, place < firstReservedSuperframe else { return nil }
    // By powers of two, unsigned, the divisions are shifts.
    let unit = Int(UInt(bitPattern: place) / UInt(Geometry.superframesPerUnit))
    let superframe = Int(UInt(bitPattern: place) % UInt(Geometry.superframesPerUnit))
    let block = freeBlock(unit, superframe, sizeClass)
    if block == nil { recent[sizeClass] = -1 }
    return block
  }

  /// The first free block of the superframe, if that is a slab of this class.
  func freeBlock(_ unit: Int, _ superframe: Int, _ sizeClass: Int) -> BlockRef? {
    work.bitmapWords &+= 1
    guard kind(unit, superframe) == sizeClass &+ 1,
      let index = firstClear(usedBits(unit, superframe), limit: SizeClasses.blocksPerSlab(sizeClass))
    else { return nil }
    return block(unit, superframe, index, sizeClass)
  }

  @inline(__always)
  func block(_ unit: Int, _ superframe: Int, _ index: Int, _ sizeClass: Int) -> BlockRef {
    let slab = geometry.unitOffset(unit) &+ superframe &* SizeClasses.slabBytes
    return BlockRef(offset: slab &+ index &* SizeClasses.size(sizeClass), code: sizeClass)
  }

  /// A free block in an existing slab of this class.
  private func findInSlab(_ sizeClass: Int, _ purpose: Purpose) -> BlockRef? {
    while let unit = unitHints.firstUnit(with: sizeClass) {
      let partial = partial(unit, sizeClass)
      let usable = usableSuperframes(unit, purpose)
      let hints = ctl.loadRelaxed(partial)
      var candidates = hints & usable
      while candidates != 0 {
        let superframe = candidates.trailingZeroBitCount
        if let block = freeBlock(unit, superframe, sizeClass) { return block }
        ctl.clearBit(superframe, at: partial)
        candidates &= candidates - 1
      }
      // Hints of slabs in the reserve stay: this search cannot prove them. It ends here, since the reserve lies in the
      // last unit.
      if hints & ~usable != 0 { return nil }
      unitHints.clear(sizeClass, unit)
    }
    return nil
  }

  @inline(__always)
  private func firstClear(_ bits: Int, limit: Int) -> Int? {
    var base = 0
    while base < limit {
      let free = ~ctl.loadRelaxed(bits &+ base &>> 3)
      if free != 0 {
        let index = base &+ free.trailingZeroBitCount
        return index < limit ? index : nil
      }
      base &+= 64
    }
    return nil
  }

  /// Makes a slab of this class from a free superframe and returns its first block.
  private func findInNewSlab(_ sizeClass: Int, _ purpose: Purpose) -> BlockRef? {
    guard let (unit, superframe) = findSuperframe(purpose) else { return nil }
    makeSlab(unit, superframe, sizeClass)
    return block(unit, superframe, 0, sizeClass)
  }

  /// Makes a free superframe a slab of this class.
  func makeSlab(_ unit: Int, _ superframe: Int, _ sizeClass: Int) {
    hintRoom(unit, superframe, sizeClass)
    ctl.storeByte(geometry.descriptor(unit) + UnitLayout.kind + superframe, UInt8(sizeClass + 1))
    crashFence()
    work.slabs += 1
  }

  /// The first superframe that is no slab and whose frames are free.
  private func findSuperframe(_ purpose: Purpose) -> (unit: Int, superframe: Int)? {
    while let unit = unitHints.firstUnit(with: Summary.freeSuperframe) {
      let usable = usableSuperframes(unit, purpose)
      var candidates = usable
      while candidates != 0 {
        let superframe = candidates.trailingZeroBitCount
        work.bitmapWords += 1
        if isFree(unit, superframe) { return (unit, superframe) }
        candidates &= candidates - 1
      }
      if usable != .max { return nil }
      unitHints.clear(Summary.freeSuperframe, unit)
    }
    return nil
  }

  /// Which frames of a superframe are free, as bits; a slab's all are.
  func freeFrames(_ unit: Int, _ superframe: Int) -> UInt64 {
    let frame = superframe * Geometry.framesPerSuperframe
    let word = ctl.loadRelaxed(geometry.descriptor(unit) + UnitLayout.frameFree + frame / 64 * 8)
    return word >> UInt64(frame % 64) & Self.allFrames
  }

  /// Is a superframe no slab, and every frame of it free?
  @inline(__always)
  func isFree(_ unit: Int, _ superframe: Int) -> Bool {
    kind(unit, superframe) == 0 && freeFrames(unit, superframe) == Self.allFrames
  }

  /// The frames of a superframe, as bits.
  static let allFrames: UInt64 = .max >> UInt64(64 - Geometry.framesPerSuperframe)

  // MARK: - Growth

  /// Allocates one more unit's pages, makes its descriptor, publishes it.
  ///
  /// A crash on the way leaves pages allocated beyond the published size, and hints of a unit that does not count yet: no
  /// search believes those, and the next growth does it all again. Not undone by an abort: an empty unit is no part of any
  /// transaction.
  ///
  /// ORDER units-published. WriterLockRecovery.inherit: a crash between the two counts is finished before any block of the
  /// unit is given out.
  func growOneUnit() throws(EngineError) {
    let unit = unitCount
    guard unit < geometry.unitCount else { throw .full(.capacity) }
    let descriptor = geometry.descriptor(unit)
    try backing.allocateControl(offset: descriptor, count: UnitLayout.byteCount)
    try backing.allocateData(offset: geometry.unitOffset(unit), count: Geometry.unitBytes)
    ctl.zero(descriptor, count: UnitLayout.byteCount)
    for word in 0..<UnitLayout.frameWords { ctl.storeRelaxed(descriptor + UnitLayout.frameFree + word * 8, .max) }
    boundRunsOfNewUnit(unit)
    unitHints.set(Summary.freeSuperframe, unit)
    crashFence()
    ctl.storeRelease(ControlLayout.units, UInt64(unit + 1))
    publishUnits()
    work.units += 1
  }

  /// Tells processes that map only *data* of all units. Idempotent.
  ///
  /// PAIR published-size. Other end: ObserverLookup.require. An observer that follows an offset into the new unit must find
  /// the size that covers it; it loads the size after the offset.
  func publishUnits() { data.storeRelease(DataLayout.publishedBytes, UInt64(geometry.unitOffset(unitCount))) }
}

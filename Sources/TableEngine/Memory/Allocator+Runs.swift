/// Runs of frames: the blocks that no slab holds. Frames are counted over all units, and 64 of them are a word of bits.
extension Allocator {
  func frames(_ block: BlockRef) -> Range<Int> {
    let first = (block.offset - geometry.unitsOffset) / SizeClasses.frameBytes
    return first..<(first + block.code - SizeClasses.runCode)
  }

  /// The control offsets of the words of 64 frames: which are free, and with which a run begins.
  private func words(_ word: Int) -> (free: Int, starts: Int) {
    let descriptor = geometry.descriptor(word / UnitLayout.frameWords)
    let within = word % UnitLayout.frameWords * 8
    return (descriptor + UnitLayout.frameFree + within, descriptor + UnitLayout.runStart + within)
  }

  // MARK: - Single frames

  func isFree(frame: Int) -> Bool { !isSlab(frame: frame) && ctl.bit(frame % 64, at: words(frame / 64).free) }

  func isRunStart(_ frame: Int) -> Bool { ctl.bit(frame % 64, at: words(frame / 64).starts) }

  func isSlab(frame: Int) -> Bool { kind(frame / Geometry.framesPerSuperframe) != 0 }

  // MARK: - Whole runs

  /// Sets a run's bits. Idempotent.
  func markRun(_ block: BlockRef) {
    let first = frames(block).lowerBound
    forEachWord(of: block) { word, mask in
      let (free, starts) = words(word)
      // The bits that earlier runs left here are overwritten: of a frame in use, the bit always tells of the run that has it.
      let start: UInt64 = word == first / 64 ? 1 << UInt64(first % 64) : 0
      ctl.storeRelaxed(starts, ctl.loadRelaxed(starts) & ~mask | start)
      ctl.storeRelaxed(free, ctl.loadRelaxed(free) & ~mask)
    }
  }

  /// Clears a run's bits. Idempotent, as ``release(_:)`` is.
  func releaseRun(_ block: BlockRef) {
    forEachWord(of: block) { word, mask in
      let (free, _) = words(word)
      // Hints first: were they set after the bits, a crash between would hide the room for ever.
      unitHints.set(Summary.freeFrame, word / UnitLayout.frameWords)
      unitHints.set(Summary.freeSuperframe, word / UnitLayout.frameWords)
      crashFence()
      ctl.storeRelaxed(free, ctl.loadRelaxed(free) | mask)
    }
  }

  /// The words that a run's frames lie in, each with those frames' bits.
  @inline(__always)
  private func forEachWord(of block: BlockRef, _ body: (_ word: Int, _ mask: UInt64) -> Void) {
    var rest = frames(block)
    while !rest.isEmpty {
      let word = rest.lowerBound / 64
      let part = rest.clamped(to: word * 64..<word * 64 + 64)
      body(word, (.max >> UInt64(64 - part.count)) << UInt64(part.lowerBound % 64))
      rest = part.upperBound..<rest.upperBound
    }
  }

  /// The run that a frame in use belongs to; nil where there is none, or the bits contradict each other.
  func run(ofFrame frame: Int) -> BlockRef? {
    guard let first = runStart(atOrBefore: frame) else { return nil }
    return BlockRef(
      offset: geometry.unitsOffset + first * SizeClasses.frameBytes,
      code: SizeClasses.runCode + runEnd(after: frame) - first)
  }

  /// - Returns: nil if a frame between, or this one, is no run's.
  private func runStart(atOrBefore frame: Int) -> Int? {
    var word = frame / 64
    var looked: UInt64 = .max >> UInt64(63 - frame % 64)
    while word >= 0 {
      let (used, starts) = runs(word)
      let last = 63 - (starts & looked).leadingZeroBitCount
      if 63 - (~used & looked).leadingZeroBitCount > last { return nil }
      if last >= 0 { return word * 64 + last }
      word -= 1
      looked = .max
    }
    return nil
  }

  /// The first frame behind a frame in use that is not of the same run.
  private func runEnd(after frame: Int) -> Int {
    var word = (frame + 1) / 64
    var looked: UInt64 = .max << UInt64((frame + 1) % 64)
    let limit = unitCount * UnitLayout.frameWords
    while word < limit {
      let (used, starts) = runs(word)
      let ends = (~used | starts) & looked
      if ends != 0 { return word * 64 + ends.trailingZeroBitCount }
      word += 1
      looked = .max
    }
    return limit * 64
  }

  /// Of 64 frames, which are in use by runs, and with which of these a run begins.
  private func runs(_ word: Int) -> (used: UInt64, starts: UInt64) {
    var slabs: UInt64 = 0
    for position in stride(from: 0, to: 64, by: Geometry.framesPerSuperframe) where isSlab(frame: word * 64 + position)
    {
      slabs |= Self.allFrames << UInt64(position)
    }
    let (free, starts) = words(word)
    let used = ~(ctl.loadRelaxed(free) | slabs)
    return (used, ctl.loadRelaxed(starts) & used)
  }

  // MARK: - Search

  /// First fit over the units with a hint of a free frame; a run may cross units.
  func findRun(frames count: Int, _ purpose: Purpose) throws(EngineError) -> BlockRef {
    var search = RunSearch(allocator: self, wanted: count)
    var before = search
    var unit = 0
    while true {
      while unit < unitCount {
        before = search
        if let found = search.scan(unit, usableSuperframes(unit, purpose)) { return found }
        unit += 1
      }
      try growOneUnit()
      // What was the last unit has no reserve any more. It is scanned again, whole: a run that ends where the reserve began
      // does not go on in the unit behind it.
      unit -= 1
      search = before
    }
  }
}

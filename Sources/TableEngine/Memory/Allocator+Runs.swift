/// Runs of frames: the blocks that no slab holds. Frames are counted over all units, and 64 of them are a word of bits.
extension Allocator {
  func frames(_ block: BlockRef) -> Range<Int> {
    let first = (block.offset - geometry.unitsOffset) / SizeClasses.frameBytes
    return first..<(first + block.code - SizeClasses.runCode)
  }

  /// The block that is the run of these frames.
  func run(_ frames: Range<Int>) -> BlockRef {
    BlockRef(
      offset: geometry.unitsOffset + frames.lowerBound * SizeClasses.frameBytes,
      code: SizeClasses.runCode + frames.count)
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
    // Hints and bounds first: were they set after the bits, a crash between would hide the room for ever.
    let frames = frames(block)
    boundRuns(freeing: frames)
    for unit in frames.lowerBound / Geometry.framesPerUnit...(frames.upperBound - 1) / Geometry.framesPerUnit {
      unitHints.set(Summary.freeSuperframe, unit)
    }
    crashFence()
    forEachWord(of: block) { word, mask in
      let (free, _) = words(word)
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
    return run(first..<runEnd(after: frame))
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
    let (free, starts) = words(word)
    let used = ~(ctl.loadRelaxed(free) | slabs(word))
    return (used, ctl.loadRelaxed(starts) & used)
  }

  /// Of 64 frames, which are free.
  @inline(__always)
  func freeFrames(ofWord word: Int) -> UInt64 { ctl.loadRelaxed(words(word).free) & ~slabs(word) }

  /// Of the four superframes of a word, which are free as a whole.
  func freeSuperframes(ofWord word: Int) -> UInt64 {
    let free = freeFrames(ofWord: word)
    return (0..<4).reduce(0) { bits, superframe in
      let frames = Self.allFrames << UInt64(superframe * Geometry.framesPerSuperframe)
      return free & frames == frames ? bits | 1 << UInt64(superframe) : bits
    }
  }

  /// Of 64 frames, which are slabs'.
  @inline(__always)
  private func slabs(_ word: Int) -> UInt64 {
    let descriptor = geometry.descriptor(word / UnitLayout.frameWords)
    let kinds = ctl.loadRelaxedHalf(descriptor &+ UnitLayout.kind &+ word % UnitLayout.frameWords &* 4)
    if kinds == 0 { return 0 }
    var slabs: UInt64 = 0
    for superframe in 0..<4 where kinds & 0xff &<< UInt32(superframe &* 8) != 0 { slabs |= 1 &<< UInt64(superframe) }
    return Self.frames(ofSuperframes: slabs)
  }

  /// Four superframes, as bits, as their 64 frames.
  @inline(__always)
  static func frames(ofSuperframes superframes: UInt64) -> UInt64 {
    var frames: UInt64 = 0
    for superframe in 0..<4 as Range<UInt64> where superframes & 1 &<< superframe != 0 {
      frames |= allFrames &<< (superframe &* UInt64(Geometry.framesPerSuperframe))
    }
    return frames
  }

  // MARK: - Bounds

  /// Raises the bounds to what they have to be once these frames are free: to be called before. Work is bounded: at most the units
  /// before and behind are looked at.
  func boundRuns(freeing frames: Range<Int>) {
    let count = Geometry.framesPerUnit
    let first = firstFree(before: frames.lowerBound)
    let end = endOfFree(from: frames.upperBound)
    for unit in first / count...(end - 1) / count {
      runBounds.raise(unit, to: min(end, (unit + 2) * count) - max(first, unit * count))
    }
  }

  /// As ``boundRuns(freeing:)``, for all frames of a unit that does not count yet.
  func boundRunsOfNewUnit(_ unit: Int) {
    let begin = unit * Geometry.framesPerUnit
    runBounds.raise(unit, to: Geometry.framesPerUnit)
    if unit > 0 { runBounds.raise(unit - 1, to: begin + Geometry.framesPerUnit - firstFree(before: begin)) }
  }

  /// Where the free frames before this one begin, in its unit or the one before.
  private func firstFree(before frame: Int) -> Int {
    let lowest = max(0, frame / Geometry.framesPerUnit - 1) * UnitLayout.frameWords
    var word = frame / 64
    var looked: UInt64 = ~(.max << UInt64(frame % 64))
    // The word may be the first of a unit that does not count yet: nothing of it is looked at.
    while looked == 0 || ~freeFrames(ofWord: word) & looked == 0 {
      if word == lowest { return word * 64 }
      word -= 1
      looked = .max
    }
    return word * 64 + 64 - (~freeFrames(ofWord: word) & looked).leadingZeroBitCount
  }

  /// Where the free frames from this one on end, in the unit of the frame before or the next one.
  private func endOfFree(from frame: Int) -> Int {
    let limit = min((frame - 1) / Geometry.framesPerUnit + 2, unitCount) * UnitLayout.frameWords
    var word = frame / 64
    var looked: UInt64 = .max << UInt64(frame % 64)
    while word < limit {
      let taken = ~freeFrames(ofWord: word) & looked
      if taken != 0 { return word * 64 + taken.trailingZeroBitCount }
      word += 1
      looked = .max
    }
    return max(frame, limit * 64)
  }

  /// The longest run of free frames that begins in a unit, as far as the end of the next one.
  func longestRun(from unit: Int) -> Int {
    var run = FreeRun()
    for word in unit * UnitLayout.frameWords..<(unit + 1) * UnitLayout.frameWords {
      run.extend(freeFrames(ofWord: word), count: 64)
    }
    let end = (unit + 1) * Geometry.framesPerUnit
    return run.length == 0 ? run.longest : max(run.longest, run.length + endOfFree(from: end) - end)
  }

  // MARK: - Search

  /// The first run of so many frames; it may cross units.
  func findRun(frames count: Int, _ purpose: Purpose) throws(EngineError) -> BlockRef {
    while true {
      if let run = firstRun(frames: count, purpose) { return run }
      // What was the last unit has no reserve any more.
      try growOneUnit()
    }
  }

  /// As ``findRun(frames:_:)``, without growing the table; nil if there is no such run.
  func firstRun(frames count: Int, _ purpose: Purpose) -> BlockRef? {
    var search = RunSearch(allocator: self, wanted: count)
    var unit = 0
    while unit < unitCount {
      if !search.isInRun {
        guard let next = runBounds.firstUnit(in: unit..<unitCount, with: search.leastBound) else { return nil }
        unit = next
      }
      if let found = search.scan(unit, usableSuperframes(unit, purpose)) { return found }
      if runBounds.bound(unit) >= search.leastBound {
        work.bitmapWords += UnitLayout.frameWords
        runBounds.lower(unit, to: longestRun(from: unit))
      }
      unit += 1
    }
    return nil
  }
}

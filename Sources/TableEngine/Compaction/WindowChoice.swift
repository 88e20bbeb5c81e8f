/// Which window is the cheapest to evacuate. Each slab and each frame has a price; a window costs what its neighbours cost
/// together.
///
/// Work grows with the units looked at, which the caller bounds, not with the table.
struct WindowChoice {
  private let allocator: Allocator
  /// Frames of a window. At least a superframe's: slabs and sub-tables need a whole superframe.
  private let frames: Int
  /// Counted over all units, without those that are reserved.
  private let superframes: Range<Int>
  /// What the slabs before each superframe cost together, and what the runs' frames before each frame do.
  private var slabPrices: [Int] = [0]
  private var framePrices: [Int] = [0]

  /// How many superframes are free as a whole.
  let freeSuperframes: Int

  /// The price of what has no place elsewhere. The sum of many does not overflow.
  private static let impossible = 1 << 40
  /// The most that a frame of a run costs that has a place: a window counts it for each of the run's frames that lie in it, and the sum must
  /// stay below ``impossible``.
  private static let dearest = 1 << 20

  /// - Parameters:
  ///   - frames: the window's, for all searches.
  ///   - end: the superframe behind the last that is looked at, if there are more in the units.
  init(_ allocator: Allocator, units: Range<Int>, frames: Int, endingAt end: Int = .max) {
    self.allocator = allocator
    self.frames = max(frames, Geometry.framesPerSuperframe)
    let reserved = units.upperBound == allocator.unitCount ? Allocator.reservedSuperframes : 0
    let unitsEnd = units.upperBound * Geometry.superframesPerUnit - reserved
    superframes = units.lowerBound * Geometry.superframesPerUnit..<min(end, unitsEnd)
    slabPrices.reserveCapacity(superframes.count + 1)
    framePrices.reserveCapacity(superframes.count * Geometry.framesPerSuperframe + 1)
    let room = FreeRoom(allocator, superframes, sparesSuperframes: frames <= Geometry.framesPerSuperframe)
    freeSuperframes = room.superframes
    var run: (frames: Range<Int>, price: Int) = (0..<0, 0)
    for superframe in superframes {
      slabPrices.append(slabPrices.last! + price(ofSlab: superframe, room))
      // Mostly none of them is a run's.
      if allocator.freeFrames(superframe) == Allocator.allFrames {
        framePrices.append(contentsOf: repeatElement(framePrices.last!, count: Geometry.framesPerSuperframe))
        continue
      }
      for frame in FrameWindow.frames(ofSuperframe: superframe) {
        if !run.frames.contains(frame) { run = price(ofRunWith: frame, room) }
        framePrices.append(framePrices.last! + run.price)
      }
    }
  }

  /// Bytes to be moved; a slab's worth where they would need a new one.
  private func price(ofSlab superframe: Int, _ room: FreeRoom) -> Int {
    let kind = allocator.kind(superframe)
    guard kind != 0 else { return 0 }
    guard kind <= SizeClasses.count else { return Self.impossible }
    let used = allocator.usedBlocks(superframe)
    let elsewhere = room.blocks[kind - 1] - (SizeClasses.blocksPerSlab(kind - 1) - used)
    if used <= elsewhere { return used * SizeClasses.size(kind - 1) }
    return room.superframes > 0 && frames > Geometry.framesPerSuperframe ? SizeClasses.slabBytes : Self.impossible
  }

  /// The run that a frame lies in, and what each of its frames costs: the whole run has to move, and the longer it is, the
  /// rarer is a place for it. A frame that is free or a slab's counts as a run of its own that costs nothing.
  private func price(ofRunWith frame: Int, _ room: FreeRoom) -> (frames: Range<Int>, price: Int) {
    guard !allocator.isSlab(frame: frame), !allocator.isFree(frame: frame) else { return (frame..<frame + 1, 0) }
    guard let run = allocator.run(ofFrame: frame) else { return (frame..<frame + 1, Self.impossible) }
    let frames = allocator.frames(run)
    return (frames, frames.count <= room.longestRun ? min(run.byteCount, Self.dearest) : Self.impossible)
  }

  /// The window to evacuate, of those that touch none of the ones tried before.
  ///
  /// It is the cheapest. Of those longer than a superframe the first one tried is the first in the table that costs at most
  /// twice as much and a slab: the cheapest lie scattered, and what is left between them would be too short for another.
  /// - Returns: nil if none can be evacuated.
  func window(except tried: [FrameWindow]) -> FrameWindow? {
    let windows = superframes.lazy.compactMap { candidate(at: $0, except: tried) }
    guard let least = windows.map(\.price).min() else { return nil }
    let isAny = frames > Geometry.framesPerSuperframe && tried.isEmpty
    let most = isAny ? 2 * least + SizeClasses.slabBytes : least
    return windows.first { $0.price <= most }?.window
  }

  /// The window that begins in this superframe, if it can be evacuated.
  private func candidate(at superframe: Int, except tried: [FrameWindow]) -> (price: Int, window: FrameWindow)? {
    let start =
      frames > Geometry.framesPerSuperframe ? firstFrame(superframe) : superframe * Geometry.framesPerSuperframe
    let window = FrameWindow(frames: start..<start + frames)
    guard window.superframes.upperBound <= superframes.upperBound else { return nil }
    let price = price(window)
    guard price < Self.impossible, !tried.contains(where: { $0.superframes.overlaps(window.superframes) }) else {
      return nil
    }
    return (price, window)
  }

  private func price(_ window: FrameWindow) -> Int {
    let first = superframes.lowerBound
    let slabs = slabPrices[window.superframes.upperBound - first] - slabPrices[window.superframes.lowerBound - first]
    let firstFrame = first * Geometry.framesPerSuperframe
    let runs = framePrices[window.frames.upperBound - firstFrame] - framePrices[window.frames.lowerBound - firstFrame]
    return slabs + runs
  }

  /// The first frame of a window that begins in this superframe: the first of the free frames at its end, or the
  /// superframe's first if its last one is in use.
  private func firstFrame(_ superframe: Int) -> Int {
    let frames = FrameWindow.frames(ofSuperframe: superframe)
    guard allocator.kind(superframe) == 0 else { return frames.lowerBound }
    let free = (~(allocator.freeFrames(superframe) << UInt64(64 - frames.count))).leadingZeroBitCount
    return free == 0 ? frames.lowerBound : frames.upperBound - free
  }
}

/// What is free in some superframes.
private struct FreeRoom {
  /// Blocks in slabs, by size class.
  private(set) var blocks = Array(repeating: 0, count: SizeClasses.count)
  private(set) var superframes = 0
  private var run = FreeRun()
  /// Frames in a row.
  var longestRun: Int { run.longest }

  /// - Parameter sparesSuperframes: superframes that are free as a whole are no place for runs: see ``Vacancies``.
  init(_ allocator: Allocator, _ range: Range<Int>, sparesSuperframes: Bool) {
    for superframe in range {
      let kind = allocator.kind(superframe)
      let free = kind == 0 ? allocator.freeFrames(superframe) : 0
      if (0..<SizeClasses.count).contains(kind - 1) {
        blocks[kind - 1] += SizeClasses.blocksPerSlab(kind - 1) - allocator.usedBlocks(superframe)
      }
      if free == Allocator.allFrames { superframes += 1 }
      let isSpared = free == Allocator.allFrames && sparesSuperframes
      run.extend(isSpared ? 0 : free, count: Geometry.framesPerSuperframe)
    }
  }
}

/// Finds room for what an ``Evacuation`` moves: outside its window, outside what is reserved, and in memory
/// that the table has.
struct Vacancies {
  let allocator: Allocator
  /// Where to look.
  let units: Range<Int>
  /// Superframes, counted over all units, that are to become empty.
  let avoided: Range<Int>
  /// Leaves superframes that are free as a whole alone: they are what is wanted.
  let sparesSuperframes: Bool
  /// Of each size class, and behind them of free superframes, the first unit that may have room: what is moved never makes room
  /// before it.
  private var first: [Int]
  /// Of each length of run, in frames, the first unit that may have one.
  private var firstOfRuns: [Int: Int] = [:]

  init(
    _ allocator: Allocator, units: Range<Int>, avoiding avoided: Range<Int> = 0..<0, sparesSuperframes: Bool = false
  ) {
    self.allocator = allocator
    self.units = units
    self.avoided = avoided
    self.sparesSuperframes = sparesSuperframes
    first = Array(repeating: units.lowerBound, count: Summary.freeSuperframe + 1)
  }

  /// A free block of this size code; its bits are not set yet. May make a slab, changes nothing else.
  mutating func find(code: Int) -> BlockRef? {
    guard code < SizeClasses.runCode else { return findRun(frames: code - SizeClasses.runCode) }
    if let block = findInSlab(code) { return block }
    guard !sparesSuperframes, let (unit, superframe) = findSuperframe() else { return nil }
    allocator.makeSlab(unit, superframe, code)
    first[code] = min(first[code], unit)
    return allocator.block(unit, superframe, 0, code)
  }

  private mutating func findInSlab(_ sizeClass: Int) -> BlockRef? {
    while first[sizeClass] < units.upperBound {
      let unit = first[sizeClass]
      if allocator.unitHints.isUnitSet(sizeClass, unit) {
        let partial = allocator.geometry.descriptor(unit) + UnitLayout.partial + sizeClass * 8
        var candidates = allocator.ctl.loadRelaxed(partial) & open(unit)
        while candidates != 0 {
          if let block = allocator.freeBlock(unit, candidates.trailingZeroBitCount, sizeClass) { return block }
          candidates &= candidates - 1
        }
      }
      first[sizeClass] += 1
    }
    return nil
  }

  private mutating func findSuperframe() -> (unit: Int, superframe: Int)? {
    while first[Summary.freeSuperframe] < units.upperBound {
      let unit = first[Summary.freeSuperframe]
      if allocator.unitHints.isUnitSet(Summary.freeSuperframe, unit) {
        var candidates = open(unit)
        while candidates != 0 {
          let superframe = candidates.trailingZeroBitCount
          if allocator.isFree(unit, superframe) { return (unit, superframe) }
          candidates &= candidates - 1
        }
      }
      first[Summary.freeSuperframe] += 1
    }
    return nil
  }

  private mutating func findRun(frames: Int) -> BlockRef? {
    var search = RunSearch(allocator: allocator, wanted: frames, sparesSuperframes: sparesSuperframes)
    for unit in firstUnit(ofRunsOf: frames)..<units.upperBound {
      if let run = search.scan(unit, open(unit)) {
        // `unit` is where the run ends. It may begin in an earlier one.
        firstOfRuns[frames] = (run.offset - allocator.geometry.unitsOffset) / Geometry.unitBytes
        return run
      }
    }
    firstOfRuns[frames] = units.upperBound
    return nil
  }

  private func firstUnit(ofRunsOf frames: Int) -> Int { firstOfRuns[frames] ?? units.lowerBound }

  /// The superframes of a unit that may be used, as bits.
  private func open(_ unit: Int) -> UInt64 {
    var bits = allocator.usableSuperframes(unit, .anything)
    let base = unit * Geometry.superframesPerUnit
    for superframe in avoided.clamped(to: base..<(base + Geometry.superframesPerUnit)) {
      bits &= ~(1 << UInt64(superframe - base))
    }
    return bits
  }
}

/// Of each unit an upper bound of its longest run of free frames, and of every 64 units the largest of their bounds. They lead a
/// search for a run to the first unit that may have one, whatever the table's size.
///
/// A run belongs to the unit that it begins in. If it goes on into the next unit, it counts up to that one's end. So the
/// bound of a run's unit is at least the run's length, or at least a whole unit. (Summaries of free runs: the page allocator of Go,
/// `runtime/mpagealloc.go`, which has the same problem with runs across its chunks.)
///
/// Bounds may be too high, never too low: a writer raises one before frames become free, and taking frames leaves it as it is. A
/// search that was misled lowers it, so each take misleads one search at most. A group's bound is raised before and lowered after
/// those of its units. Thus a death between two stores hides no room.
struct RunBounds {
  let ctl: MappedMemory
  let geometry: Geometry

  private static let unitsPerGroup = 64

  private func unitWord(_ unit: Int) -> Int { geometry.runBoundsOffset &+ unit &* 8 }

  private func groupWord(of unit: Int) -> Int {
    geometry.runBoundsOffset &+ (geometry.unitCount &+ unit / Self.unitsPerGroup) &* 8
  }

  /// Frames.
  func bound(_ unit: Int) -> Int { Int(clamping: ctl.loadRelaxed(unitWord(unit))) }

  private func groupBound(_ unit: Int) -> Int { Int(clamping: ctl.loadRelaxed(groupWord(of: unit))) }

  func raise(_ unit: Int, to frames: Int) {
    if groupBound(unit) < frames { ctl.storeRelaxed(groupWord(of: unit), UInt64(frames)) }
    crashFence()
    if bound(unit) < frames { ctl.storeRelaxed(unitWord(unit), UInt64(frames)) }
    crashFence()
  }

  /// - Parameter frames: of the longest run that there is.
  func lower(_ unit: Int, to frames: Int) {
    ctl.storeRelaxed(unitWord(unit), UInt64(frames))
    crashFence()
    let first = unit / Self.unitsPerGroup * Self.unitsPerGroup
    let units = first..<min(first + Self.unitsPerGroup, geometry.unitCount)
    ctl.storeRelaxed(groupWord(of: unit), units.reduce(0) { max($0, ctl.loadRelaxed(unitWord($1))) })
  }

  /// The first of these units that may have a run of so many frames.
  func firstUnit(in units: Range<Int>, with frames: Int) -> Int? {
    var unit = units.lowerBound
    while unit < units.upperBound {
      let end = min((unit / Self.unitsPerGroup + 1) * Self.unitsPerGroup, units.upperBound)
      if groupBound(unit) >= frames {
        while unit < end {
          if bound(unit) >= frames { return unit }
          unit &+= 1
        }
      }
      unit = end
    }
    return nil
  }

  /// Does a search for so many frames come to this unit? For checks.
  func isLarge(_ unit: Int, for frames: Int) -> Bool { bound(unit) >= frames && groupBound(unit) >= frames }
}

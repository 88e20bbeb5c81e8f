import CShims

/// Makes room of a size out of free memory that lies scattered, by moving what is between: ``WindowChoice`` says where, an
/// ``Evacuation`` moves.
///
/// For the owner of W outside a transaction, after a collection; in the rwlock variant with readers kept out. What is moved is
/// bounded by the size wanted and by the units looked at: a run longer than those is not made.
struct Compactor {
  let state: WriterState
  /// Whether all replacements are to leave their reserve, if need be for larger blocks than they need. They are, too, when none of its superframes is
  /// free.
  var emptiesReserve = false

  /// Units looked at in one call; the next call goes on behind them.
  private static let unitsPerCall = 256
  /// Windows tried, as something in one may have to stay; fewer where each choice looks at many units.
  private static func windowsPerCall(_ units: Int) -> Int { min(32, 2048 / units) }
  /// Superframes to have free where one is short. A set whose sub-table splits twice takes five, and of an attempt that failed
  /// it is not known how many it had found.
  private static let wantedSuperframes = 6
  /// How often readers in flight are waited for, and how long each time.
  private static let waitsPerCall = 40
  private static let waitNanoseconds: UInt64 = 50_000

  /// - Parameter code: the size code that no block was found for.
  /// - Returns: whether there is room now.
  func makeRoom(for code: Int) -> Bool {
    let isRoom = makeRoom(for: code, in: units(from: &state.nextUnitToCompact))
    let isUsedUp = !reserve.superframes.contains(where: state.allocator.isFree(superframe:))
    // Last: what is moved to larger blocks takes them from everybody else.
    if emptiesReserve || isUsedUp { emptyReserveIntoLargerBlocks() }
    return isRoom
  }

  /// As ``makeRoom(for:)``, in the units before the last, for what is to be moved out of that.
  /// - Parameter end: the superframe behind the last in which room is of use.
  func makeRoomBeforeLastUnit(for code: Int, endingAt end: Int) -> Bool {
    let units = units(from: &state.nextUnitToMoveTo).clamped(to: 0..<state.allocator.unitCount - 1)
    return makeRoom(for: code, in: units, endingAt: end)
  }

  /// - Parameters:
  ///   - units: where to make it.
  ///   - end: the superframe behind the last in which it is of use.
  private func makeRoom(for code: Int, in units: Range<Int>, endingAt end: Int = .max) -> Bool {
    let frames = code < SizeClasses.runCode ? Geometry.framesPerSuperframe : code - SizeClasses.runCode
    guard SizeClasses.isCode(code), frames <= units.count * Geometry.framesPerUnit else { return false }
    // First: a merged sub-table would take some of the room that is made.
    if mergeSubTables(units) > 0 { reclaim() }
    emptyReserve(units)
    var bytesLeft = (1 << 20) + 2 * frames * SizeClasses.frameBytes
    var waitsLeft = Self.waitsPerCall
    var tried: [FrameWindow] = []
    while bytesLeft > 0, tried.count < Self.windowsPerCall(units.count) {
      let choice = WindowChoice(state.allocator, units: units, frames: frames, endingAt: end)
      guard frames > Geometry.framesPerSuperframe || choice.freeSuperframes < Self.wantedSuperframes,
        let window = choice.window(except: tried)
      else { break }
      tried.append(window)
      var evacuation = Evacuation(state, window, units: units)
      if !evacuation.run() { waitsLeft = 0 }
      bytesLeft -= evacuation.movedBytes
      if reclaim(evacuation, &waitsLeft), frames > Geometry.framesPerSuperframe { break }
    }
    let unitsEnd = units.upperBound * Geometry.superframesPerUnit
    var vacancies = Vacancies(state.allocator, units: units, avoiding: min(end, unitsEnd)..<unitsEnd)
    return vacancies.find(code: code) != nil
  }

  /// What is reserved for values that replace others.
  private var reserve: FrameWindow { FrameWindow(frames: state.allocator.framesForReplacements) }

  /// Moves what replaced other values out of the reserve, to blocks of its size.
  private func emptyReserve(_ units: Range<Int>) {
    var evacuation = Evacuation(state, reserve, units: units)
    if evacuation.isDone { return }
    evacuation.moveAll()
    reclaim()
  }

  /// Moves what is left in the reserve to larger blocks than it needs, those that the replaced values had among them. Not while the reserve
  /// suffices: it would take the larger blocks that have become free, of which a compaction can soon make a superframe for blocks of any size.
  private func emptyReserveIntoLargerBlocks() {
    // In all units: a larger block may have become free in any.
    var evacuation = Evacuation(state, reserve, units: 0..<state.allocator.unitCount, allowsSlack: true)
    if evacuation.isDone { return }
    // The superframe with the least in it first: there may not be a place for everything, and one that is free serves blocks of any size.
    evacuation.moveAll(outOf: reserve.superframes.sorted { usedPlaces($0) < usedPlaces($1) })
    reclaim()
  }

  /// Blocks of a slab or frames of runs that are in use.
  private func usedPlaces(_ superframe: Int) -> Int {
    let allocator = state.allocator
    guard allocator.kind(superframe) == 0 else { return allocator.usedBlocks(superframe) }
    return Geometry.framesPerSuperframe - allocator.freeFrames(superframe).nonzeroBitCount
  }

  /// Merges sparse sub-tables: index memory comes back, and so do the frames that they lie in.
  /// - Returns: how many pairs were merged.
  @discardableResult
  func mergeSubTables() -> Int {
    let merged = mergeSubTables(units(from: &state.nextUnitToCompact))
    // No writer waits for this room, but one may wait for W. So this is a single pass: readers may have let go of far more.
    if merged > 0 { Collector.reclaim(state, passes: 1) }
    return merged
  }

  private func mergeSubTables(_ units: Range<Int>) -> Int {
    var merger = Merger(state, Vacancies(state.allocator, units: units))
    return merger.run()
  }

  /// The units to look at: all of them, or in a large table the next ones each time.
  private func units(from next: inout Int) -> Range<Int> {
    let count = state.allocator.unitCount
    let first = next < count ? next : 0
    next = min(first + Self.unitsPerCall, count)
    return first..<next
  }

  /// Frees what was moved away from; waits a little for readers in flight.
  /// - Returns: whether the window is free.
  private func reclaim(_ evacuation: Evacuation, _ waitsLeft: inout Int) -> Bool {
    while true {
      reclaim()
      if evacuation.isDone { return true }
      guard waitsLeft > 0 else { return false }
      waitsLeft -= 1
      shmos_sleep(Self.waitNanoseconds)
    }
  }

  private func reclaim() { Collector.reclaim(state) }
}

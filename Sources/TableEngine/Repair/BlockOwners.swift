/// Who uses each block, as a check finds it out (I6).
final class BlockOwners {
  enum Owner: String {
    case node = "a directory node"
    case subTable = "a sub-table"
    case entry = "an entry"
    case limbo = "limbo"
    case cutOff = "cut off from its chain"
  }

  let blockPlaces: BlockPlaces
  private let state: WriterState
  private let problems: Problems
  private var owners: [Int: (block: BlockRef, owner: Owner)] = [:]
  /// Frames that belong to a run.
  private(set) var usedFrames: Set<Int> = []

  init(_ state: WriterState, end: Int, _ problems: Problems) {
    self.state = state
    blockPlaces = BlockPlaces(geometry: state.geometry, end: end)
    self.problems = problems
  }

  private var geometry: Geometry { state.geometry }
  /// Where the units end.
  var end: Int { blockPlaces.end }

  func owner(_ offset: Int) -> Owner? { owners[offset]?.owner }

  func block(_ offset: Int) -> BlockRef? { owners[offset]?.block }

  /// Enters a block in the list of owners.
  /// - Returns: false if it is impossible or in use already: do not look into it.
  func enter(_ block: BlockRef, _ owner: Owner) -> Bool {
    guard blockPlaces.contains(block.offset, code: block.code) else {
      problems.expect(false, "\(owner.rawValue) at \(block.offset) lies outside the units")
      return false
    }
    guard blockPlaces.isOnGrid(block.offset, code: block.code) else {
      problems.expect(false, "\(owner.rawValue) at \(block.offset) lies across blocks")
      return false
    }
    if let other = owners[block.offset] {
      problems.expect(false, "the block at \(block.offset) is \(owner.rawValue) and \(other.owner.rawValue) (I6)")
      return false
    }
    owners[block.offset] = (block, owner)
    problems.expect(
      state.allocator.isMarked(block), "the block at \(block.offset), \(owner.rawValue), is not marked in use (I6)")
    if block.code >= SizeClasses.runCode {
      let first = (block.offset - geometry.unitsOffset) / SizeClasses.frameBytes
      for frame in first..<(first + block.code - SizeClasses.runCode) {
        problems.expect(usedFrames.insert(frame).inserted, "frame \(frame) belongs to two runs (I6)")
      }
    }
    return true
  }
}

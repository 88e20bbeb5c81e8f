import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Runs of frames beside a list of which frame belongs to which run: lengths around those of a word of bits, a superframe and a unit.
@Suite struct FrameRunTests {
  private static let lengths = [1, 9, 15, 16, 17, 63, 64, 65, 130, 1023, 1025]
  // Not a superframe's: of those an aligned one comes first.
  private static let wanted = [9, 15, 17, 30, 64, 100, 1024, 1500]

  @Test(arguments: [1, 2, 3] as [UInt64]) func theBitsTellOfEachFrameWhichRunItBelongsTo(seed: UInt64) throws {
    let table = try Table.temporary(capacityBytes: 4 << 20)
    let allocator = try #require(table.segment.participant).state.allocator
    while allocator.unitCount < allocator.geometry.unitCount { try allocator.growOneUnit() }
    var generator = SplitMix(seed: seed)
    let frameCount = allocator.unitCount * Geometry.framesPerUnit
    // What the new table itself has taken stays as it is.
    let places = (0..<frameCount).filter { allocator.isFree(frame: $0) }
    var runs: [Int: Range<Int>] = [:]
    var (found, foundNone) = (0, 0)
    for _ in 0..<700 {
      let first = places[generator.below(places.count)]
      let length = Self.lengths[generator.below(Self.lengths.count)]
      if let run = runs[first] {
        allocator.release(allocator.run(run))
        for frame in run { runs[frame] = nil }
      } else if first + length <= frameCount, (first..<first + length).allSatisfy({ allocator.isFree(frame: $0) }) {
        allocator.mark(allocator.run(first..<first + length))
        for frame in first..<first + length { runs[frame] = first..<first + length }
      }
      for _ in 0..<20 {
        let frame = places[generator.below(places.count)]
        let run = runs[frame]
        #expect(allocator.isFree(frame: frame) == (run == nil))
        #expect(allocator.run(ofFrame: frame) == run.map(allocator.run))
        if let run { #expect(allocator.isRunStart(frame) == (frame == run.lowerBound)) }
      }
      let wanted = Self.wanted[generator.below(Self.wanted.count)]
      let expected = Self.firstFit(wanted, allocator)
      #expect(try Self.find(wanted, allocator) == expected)
      if expected == nil { foundNone += 1 } else { found += 1 }
    }
    #expect(foundNone > 0 && found > 100)
    for run in Set(runs.values) { allocator.release(allocator.run(run)) }
    #expect(places.allSatisfy { allocator.isFree(frame: $0) })
    #expect(try table.check() == [])
  }

  /// Where a search has to find so many frames, without the reserve.
  private static func firstFit(_ wanted: Int, _ allocator: Allocator) -> Int? {
    let end = allocator.framesForReplacements.lowerBound
    var length = 0
    for frame in 0..<end {
      length = allocator.isFree(frame: frame) ? length + 1 : 0
      if length == wanted { return frame + 1 - wanted }
    }
    return nil
  }

  private static func find(_ wanted: Int, _ allocator: Allocator) throws -> Int? {
    do throws(EngineError) {
      let block = try allocator.find(code: SizeClasses.runCode + wanted, for: .anything)
      return allocator.frames(block).lowerBound
    } catch .full(.capacity) {
      return nil
    }
  }
}

import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Tables of so many units that one call does not look at all of them. Hardly any unit has memory: it is given back as soon as the table
/// has grown by it.
@Suite struct LargeTableTests {
  /// Units that a ``Compactor`` looks at in one call.
  private static let unitsPerCall = 256

  /// Runs `body` with a table that has grown to its capacity, and its frames from the first on behind which all are free.
  private func withGrownTable(
    units: Int, _ variant: Table.Variant, _ body: (Table, WriterState, _ firstFree: Int) throws -> Void
  ) throws {
    try withTableName { name in
      // Huge pages would fill the holes.
      let options = Table.Options(variant: variant, capacityBytes: units * Geometry.unitBytes, hugePages: false)
      let table = try Table.create(name, options)
      let state = try #require(table.segment.participant).state
      let (allocator, geometry) = (state.allocator, state.geometry)
      // Of the log, too, which is empty.
      state.backing.giveBackData(DataLayout.log..<geometry.unitsOffset)
      let begun = allocator.unitCount
      while allocator.unitCount < geometry.unitCount {
        let unit = geometry.unitOffset(allocator.unitCount)
        try allocator.growOneUnit()
        state.backing.giveBackData(unit..<unit + Geometry.unitBytes)
      }
      let lastUsed = (0..<begun * Geometry.framesPerUnit).last { !allocator.isFree(frame: $0) }
      try body(table, state, try #require(lastUsed) + 1)
      #expect(try table.check() == [])
    }
  }

  private func whileLocked<R>(_ table: Table, _ body: () throws -> R) throws -> R {
    let participant = try #require(table.segment.participant)
    let slot = Int(try table.segment.threadRecord().pointee.slotIndex)
    #expect(participant.lock.tryLock(slot: slot) == .acquired)
    defer { participant.lock.unlock() }
    return try body()
  }

  /// What lies behind 4 GiB has offsets that 32 bits do not hold. It is moved to the front, and the pages behind that go, and no others.
  /// One table after the other: each has a log of 64 MiB for a moment.
  @Test(.serialized, arguments: Table.Variant.allCases) func aTableOfMoreThanFourGiBShrinksToWhatItHolds(
    _ variant: Table.Variant
  ) throws {
    try withGrownTable(units: 4096, variant) { table, state, firstFree throws in
      let allocator = state.allocator
      let lastUnit = allocator.unitCount - 1
      let behind = FrameWindow(frames: lastUnit * Geometry.framesPerUnit..<allocator.unitCount * Geometry.framesPerUnit)
      #expect(state.geometry.unitOffset(lastUnit) > 1 << 32)
      // Until the values are stored, so that they lie in the last unit.
      let taken = allocator.run(firstFree..<behind.frames.lowerBound)
      allocator.mark(taken)
      func value(_ index: Int) -> [UInt8] { [UInt8](repeating: UInt8(index), count: index % 2 == 0 ? 200 : 9_000) }
      for index in 0..<20 { try table.set("key \(index)", value(index)) }
      #expect(!allocator.isFree(behind))
      allocator.release(taken)

      repeat { try table.administration.maintain() } while try table.administration.shrink()?.isUnfinished != false
      #expect(allocator.unitCount <= 2)
      #expect(try table.segment.dataObject.status().allocated <= state.geometry.unitOffset(allocator.unitCount))
      for index in 0..<20 { #expect(try table.get("key \(index)") == value(index)) }
    }
  }

  /// Whether the room is for a barrier, or for what is moved out of the last unit: the first call finds none in the units it looks at, and
  /// the next one goes on behind them.
  @Test(arguments: [false, true]) func roomIsSoughtInAllUnitsCallByCall(_ isBeforeLastUnit: Bool) throws {
    try withGrownTable(units: Self.unitsPerCall + 20, .rcu) { table, state, firstFree throws in
      let allocator = state.allocator
      let taken = allocator.run(firstFree..<Self.unitsPerCall * Geometry.framesPerUnit)
      allocator.mark(taken)
      let compactor = Compactor(state: state)
      let code = SizeClasses.runCode + Geometry.framesPerUnit / 2
      let end = (allocator.unitCount - 1) * Geometry.superframesPerUnit - Allocator.reservedSuperframes
      let found = try whileLocked(table) {
        (0..<4).map { _ in
          isBeforeLastUnit
            ? compactor.makeRoomBeforeLastUnit(for: code, endingAt: end) : compactor.makeRoom(for: code)
        }
      }
      #expect(found == [false, true, false, true])
      allocator.release(taken)
    }
  }
}

import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// What an array's instance remembers of the header is used only as long as the same header lies in the table.
@Suite struct KnownHeaderTests {
  /// Two instances remember each for itself, as those of two processes do.
  private func withTwo(
    _ variant: Table.Variant, _ body: (Table, _ one: SharedArray<Int>, _ other: SharedArray<Int>) throws -> Void
  ) throws {
    try withTable(variant) { table throws in
      try body(
        table, SharedArray("a", in: table, limits: smallNodes), SharedArray("a", in: table, limits: smallNodes))
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func instancesOfOneArrayFollowEachOthersTails(_ variant: Table.Variant) throws {
    try withTwo(variant) { table, one, other in
      var model: [Int] = []
      for step in 0..<40 {
        try one.append(step)
        // Up to beyond a tail: the next append of the first finds another one.
        let more = (0..<step % 11).map { 100 * step + $0 }
        for element in more { try other.append(element) }
        model += [step] + more
        try one.set(-step, at: model.count - 1)
        try one.set(-step, at: model.count / 3)
        model[model.count - 1] = -step
        model[model.count / 3] = -step
        #expect(try other.allElements() == model, "step \(step)")
      }
      #expect(try one.problems() == [])
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func anArrayThatAnotherInstanceHasEmptiedBeginsAnew(_ variant: Table.Variant) throws {
    try withTwo(variant) { table, one, other in
      for element in 0..<30 { try one.append(element) }
      try other.removeAll()
      #expect(code { try one.set(1, at: 0) } == .outOfBounds)
      try one.append(7)
      #expect(try other.allElements() == [7])
      try other.removeAll()
      try SharedArray<String>("a", in: table).append("x")
      #expect(code { try one.append(8) } == .typeMismatch)
      #expect(code { try one.set(8, at: 0) } == .typeMismatch)
      #expect(try SharedArray<String>("a", in: table).allElements() == ["x"])
    }
  }

  /// The header is the same, and its tail is not there any more, or no leaf.
  @Test func aTailThatIsGoneIsDamage() throws {
    let table = try Table.temporary()
    let array = try SharedArray<Int>("a", in: table)
    try array.append(1)
    try array.append(2)
    try table.remove("a/1")
    #expect(code { try array.append(3) } == .damaged)
    #expect(code { try array.set(3, at: 0) } == .damaged)
    try table.set("a/1", 7)
    #expect(code { try array.append(3) } == .damaged)
    try array.removeAll()
    try array.append(4)
    #expect(try array.allElements() == [4])
  }
}

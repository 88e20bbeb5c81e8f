import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Questions and removals by a condition.
@Suite struct ElementsWhereTests {
  @Test(arguments: Table.Variant.allCases) func theyFindAndRemoveWhatSwiftsCollectionsDo(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let numbers = Array(0..<700)
      let array = try SharedArray<Int>("array", in: table)
      let set = try SharedSet<Int>("set", in: table)
      let dictionary = try SharedDictionary<Int, String>("dictionary", in: table)
      try array.append(contentsOf: numbers)
      try set.formUnion(numbers)
      try dictionary.merge(numbers.map { ($0, "\($0)") })

      #expect(try array.first { $0 > 300 } == 301)
      #expect(try array.firstIndex { $0 % 100 == 99 } == 99)
      #expect(try array.first { $0 < 0 } == nil)
      #expect(try set.first { $0 == 17 } == 17)
      #expect(try set.first { $0 == 700 } == nil)
      #expect(try dictionary.first { $1 == "18" }?.key == 18)
      #expect(try dictionary.first { key, _ in key < 0 } == nil)
      #expect(try array.contains { $0 == 5 } && set.contains { $0 == 5 } && dictionary.contains { key, _ in key == 5 })
      #expect(try !array.contains { $0 < 0 } && !set.contains { $0 < 0 } && !dictionary.contains { _, _ in false })

      var left = numbers
      left.removeAll { $0 % 3 != 0 }
      #expect(try array.removeAll { $0 % 3 != 0 } == 700 - left.count)
      #expect(try set.removeAll { $0 % 3 != 0 } == 700 - left.count)
      #expect(try dictionary.removeAll { key, _ in key % 3 != 0 } == 700 - left.count)
      #expect(try array.allElements() == left)
      #expect(try set.allElements() == Set(left))
      #expect(try dictionary.keys().sorted() == left)
      #expect(try array.removeAll { _ in false } == 0)
    }
  }

  /// Each node that loses elements is stored once, however many go: room is needed for the nodes, and not for the removals.
  @Test func mostOfALargeArrayIsRemovedFromATableNearlyEmpty() throws {
    try withTable(.rcu) { table throws in
      let array = try SharedArray<Int>("array", in: table)
      try array.append(contentsOf: 0..<50_000)
      #expect(try array.removeAll { $0 % 10 != 0 } == 45_000)
      #expect(try array.allElements() == Array(stride(from: 0, to: 50_000, by: 10)))
      #expect(try array.problems() == [])
      #expect(try table.checkCollections() == [])
      // Nodes were joined: few are left.
      let nodes = try table.read { view in try view.keys(prefix: "array/") }.count
      #expect(nodes < 5000 / 48)
    }
  }

  /// Any elements of trees of several levels, among them the tail, all and none.
  @Test func anArrayLosesWhatSwiftsLoses() throws {
    try withTable(.rcu) { table throws in
      var random = SplitMix(seed: 23)
      for round in 0..<60 {
        let array = try SharedArray<String>("array", in: table, limits: smallNodes)
        var model = (0..<random.below(400)).map { "\($0) " + String(repeating: "x", count: random.below(20)) }
        try array.append(contentsOf: model)
        for _ in 0..<3 {
          let (rate, begin) = (1 + random.below(100), random.below(model.count + 1))
          var gone: Set<String> = []
          for (index, element) in model.enumerated() where index >= begin && random.below(100) < rate {
            gone.insert(element)
          }
          if round % 10 == 9 { gone = Set(model) }
          #expect(try array.removeAll { gone.contains($0) } == gone.count)
          model.removeAll { gone.contains($0) }
          #expect(try array.allElements() == model, "round \(round)")
          #expect(try array.problems() == [], "round \(round)")
        }
        try array.append("last")
        #expect(try array.last == "last")
        try array.removeAll()
      }
      #expect(table.count == 0)
    }
  }

  @Test func theFirstElementsGoTogetherOrNotAtAll() async throws {
    let table = try Table.temporary()
    let array = try SharedArray<Int>("array", in: table, limits: smallNodes)
    try await array.append(contentsOf: 0..<100)
    func removeFirst(_ count: Int) throws { try array.removeFirst(count) }
    for count in [101, -1, .min, .max] { #expect(code { try removeFirst(count) } == .outOfBounds) }
    #expect(try array.count == 100)
    try removeFirst(0)
    try removeFirst(37)
    #expect(try array.allElements() == Array(37..<100))
    #expect(try array.problems() == [])
    try await array.removeFirst(60)
    #expect(try array.allElements() == [97, 98, 99])
    try removeFirst(3)
    #expect(try array.isEmpty && array.problems() == [])
    try await array.append(1)
    #expect(try array.allElements() == [1])
  }

  private struct Refusal: Error {}

  @Test func aConditionThatThrowsRemovesNothingAndABarrierGoesOn() throws {
    let table = try Table.temporary()
    let array = try SharedArray<Int>("array", in: table)
    let set = try SharedSet<Int>("set", in: table)
    let dictionary = try SharedDictionary<Int, Int>("dictionary", in: table)
    try array.append(contentsOf: 0..<10)
    try set.formUnion(0..<10)
    try dictionary.merge((0..<10).map { ($0, $0) })
    func refuse(_ number: Int) throws -> Bool {
      if number == 7 { throw Refusal() }
      return true
    }
    try table.barrier { tx throws in
      #expect(throws: Refusal.self) { try array.removeAll(in: &tx, where: refuse) }
      #expect(throws: Refusal.self) { try set.removeAll(in: &tx, where: refuse) }
      #expect(throws: Refusal.self) { try dictionary.removeAll(in: &tx) { key, _ in try refuse(key) } }
      #expect(try dictionary.removeAll(in: &tx) { key, _ in key == 3 } == 1)
    }
    #expect(try array.count == 10 && set.count == 10 && dictionary.count == 9)
  }

  /// A name whose initialiser brings it into one form.
  private struct Lower: RawRepresentable, SharedKey {
    let rawValue: String
    init(rawValue: String) { self.rawValue = rawValue.lowercased() }
  }

  /// Swift compares texts by canonical equivalence, so that its case has more texts than one.
  private enum Place: String, SharedKey { case cafe = "caf\u{e9}" }

  /// Else the key that is removed would be another than the one that met the condition.
  @Test func aKeyThatWouldBeWrittenOtherwiseIsNone() throws {
    let table = try Table.temporary()
    let texts = try SharedSet<String>("s", in: table)
    let lower = try SharedSet<Lower>("s", in: table)
    let places = try SharedSet<Place>("s", in: table)
    for stranger in ["A", "cafe\u{301}"] {
      try texts.formUnion(["a", "caf\u{e9}", stranger])
      if stranger == "A" {
        #expect(code { _ = try lower.removeAll { _ in true } } == .typeMismatch)
        #expect(code { _ = try lower.first { _ in false } } == .typeMismatch)
      } else {
        try texts.remove("a")
        #expect(code { _ = try places.removeAll { _ in true } } == .typeMismatch)
        #expect(code { _ = try places.allElements() } == .typeMismatch)
      }
      try texts.remove(stranger)
    }
    #expect(try places.allElements() == [.cafe])
    #expect(try places.removeAll { _ in true } == 1)
    try lower.insert(Lower(rawValue: "B"))
    #expect(try texts.allElements() == ["b"])
    #expect(try lower.removeAll { $0.rawValue == "b" } == 1)
  }
}

import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

@Suite struct SetTests {
  @Test(arguments: Table.Variant.allCases) func randomProgramsDoWhatASetDoes(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let watching = try observer(of: table)
      for seed in 1...4 as ClosedRange<UInt64> {
        var random = SplitMix(seed: seed)
        let shared = try SharedSet<String>("s\(seed)", in: table)
        let watched = try SharedSet<String>("s\(seed)", in: watching)
        var model: Set<String> = []
        func some() -> Set<String> { Set((0..<random.below(10)).map { _ in "e\(random.below(30))" }) }
        for step in 0..<300 {
          let element = "e\(random.below(30))"
          switch random.below(8) {
          case 0...2: #expect(try shared.insert(element) == model.insert(element).inserted)
          case 3...4: #expect(try shared.remove(element) == (model.remove(element) != nil))
          case 5:
            let others = some()
            try shared.formUnion(others)
            model.formUnion(others)
          case 6:
            let others = some()
            try shared.subtract(others)
            model.subtract(others)
          default:
            guard random.below(8) == 0 else { break }
            let others = some().union(["e1", "e2", "e3"])
            try shared.formIntersection(others)
            model.formIntersection(others)
          }
          #expect(try watched.contains(element) == model.contains(element), "seed \(seed), step \(step)")
          #expect(try watched.count == model.count, "seed \(seed), step \(step)")
          guard step % 20 == 0 else { continue }
          let others = some()
          #expect(try watched.allElements() == model, "seed \(seed), step \(step)")
          #expect(try watched.union(others) == model.union(others))
          #expect(try watched.intersection(others) == model.intersection(others))
          #expect(try watched.subtracting(others) == model.subtracting(others))
          #expect(try watched.isSuperset(of: others) == model.isSuperset(of: others))
        }
        try shared.removeAll()
        #expect(try watched.isEmpty && watched.allElements().isEmpty)
      }
    }
  }

  /// Texts that Swift takes for equal are two elements, also to what compares with a set of Swift's.
  @Test(arguments: [("\u{e9}", "e\u{301}"), ("e\u{301}", "\u{e9}")])
  func textsOfAnotherFormAreOtherElements(_ ours: String, _ others: String) throws {
    let table = try Table.temporary()
    let set = try SharedSet<String>("s", in: table)
    try set.formUnion([ours, "a"])
    #expect(try set.intersection([others, "a"]) == ["a"])
    #expect(try set.subtracting([others, "a"]).map { Array($0.utf8) } == [Array(ours.utf8)])
    try set.subtract([others])
    #expect(try set.count == 2)
    try set.formIntersection([ours, "b"])
    #expect(try set.contains(ours) && set.count == 1)
    try set.formIntersection([others])
    #expect(try set.isEmpty)
  }

  @Test func textsOfAnotherFormAreOtherElementsToTasks() async throws {
    let set = try SharedSet<String>("s", in: .temporary())
    try await set.formUnion(["\u{e9}", "a"])
    try await set.formIntersection(["e\u{301}", "a"])
    #expect(try set.count == 1)
  }

  @Test func changesBelongToTheirBarrier() throws {
    let table = try Table.temporary()
    let set = try SharedSet<Int>("s", in: table)
    try table.barrier { tx in
      #expect(try set.insert(1, in: &tx))
      #expect(try !set.insert(1, in: &tx))
      try set.formUnion([2, 3], in: &tx)
      #expect(try set.remove(2, in: &tx))
      #expect(try set.count(in: tx) == 2)
      #expect(try set.contains(3, in: tx))
    }
    #expect(throws: Stop.self) {
      try table.barrier { tx in
        try set.removeAll(in: &tx)
        throw Stop()
      }
    }
    #expect(try set.allElements() == [1, 3])
    #expect(try table.get("s/1", as: Bool.self) == true)
    #expect(code { try SharedSet<String>("s", in: table).insert("x") } == .typeMismatch)
  }
}

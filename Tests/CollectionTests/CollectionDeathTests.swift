import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// G2 and G6: whoever is killed while changing collections leaves whole changes only, and the others go on.
@Suite struct CollectionDeathTests {
  private struct Collections {
    let array: SharedArray<Int>
    let dictionary: SharedDictionary<Int, String>
    let set: SharedSet<String>
    let counter: SharedCounter

    init(_ table: Table) throws {
      array = try SharedArray("array", in: table)
      dictionary = try SharedDictionary("dictionary", in: table)
      set = try SharedSet("set", in: table)
      counter = try SharedCounter("counter", in: table)
    }

    /// All four hold the same numbers.
    func check() throws {
      let elements = try array.allElements()
      #expect(try array.problems() == [])
      #expect(try dictionary.keys().sorted() == elements.sorted())
      try dictionary.forEach { key, value in
        #expect(value == "\(key)")
      }
      #expect(try set.allElements() == Set(elements.map(String.init)))
      #expect(Set(elements).count == elements.count)
      #expect(try [array.count, dictionary.count, set.count, counter.value].allSatisfy { $0 == elements.count })
    }
  }

  @Test(arguments: Table.Variant.allCases) func theKilledLoseNothingOfTheOthersAndLeaveNoHalves(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let collections = try Collections(table)
      let survivor = try worker(table)
      var random = SplitMix(seed: 11)
      for round in 1...6 {
        let victim = try worker(table)
        try victim.send("collections-churn \(round) 100000")
        try survivor.send("collections-churn \(100 + round) 40")
        // It says each step: where in the next one it is killed, chance decides.
        for _ in 0..<1 + random.below(20) { try victim.expectLine("step") }
        try victim.killAndWait()
        for _ in 0..<40 { try survivor.expectLine("step") }
        try survivor.expectLine("ok")
        try collections.check()
        #expect(try table.check() == [])
      }
      // 40 steps of 6 rounds, none of them lost; of the killed ones at least what they had said.
      #expect(try table.get("steps", as: Int.self) ?? 0 >= 6 * 40 + 6)
      try survivor.finish()
    }
  }

  @Test(arguments: Table.Variant.allCases) func aKilledBarrierLeavesNothingInAnyCollection(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let collections = try Collections(table)
      let other = try worker(table)
      try other.send("collections-churn 1 20")
      for _ in 0..<20 { try other.expectLine("step") }
      try other.expectLine("ok")
      let before = try collections.array.allElements()
      let writer = try worker(table)
      try writer.ask("barrier", expecting: "in")
      try writer.ask("collections-add 1000 500", expecting: "ok")
      try writer.ask("collections-clear", expecting: "ok")
      try writer.ask("collections-add 5000 50", expecting: "ok")
      try writer.killAndWait()
      #expect(try collections.array.allElements() == before)
      try collections.check()
      try other.ask("barrier", expecting: "in")
      try other.ask("collections-add 1000 5", expecting: "ok")
      try other.ask("commit", expecting: "ok")
      #expect(try collections.array.count == before.count + 5)
      try collections.check()
    }
  }

  @Test(arguments: Table.Variant.allCases) func instancesOfOneNameInTwoProcessesAreOne(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let other = try worker(table)
      let watcher = try worker(table, "observer")
      try SharedDictionary<Int, Int>("d", in: table).set(1, 10)
      try other.ask("dictionary-get d 1", expecting: "10")
      try other.ask("dictionary-set d 2 20", expecting: "ok")
      try watcher.ask("dictionary-get d 2", expecting: "20")
      try watcher.ask("dictionary-set d 2 30", expecting: "error notPermitted")
      #expect(try SharedDictionary<Int, Int>("d", in: table).allElements() == [1: 10, 2: 20])
      try SharedArray<Int>("d2", in: table).append(4)
      try other.ask("dictionary-get d2 1", expecting: "error typeMismatch")
      try other.ask("dictionary-set d2 1 1", expecting: "error typeMismatch")
      try other.ask("array-remove d2 0", expecting: "4")
      try other.ask("array-remove d2 0", expecting: "error outOfBounds")
    }
  }
}

import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// The changes for asynchronous code do what the blocking ones of the same names do.
@Suite struct AwaitedChangesTests {
  @Test(arguments: Table.Variant.allCases) func ofTables(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      #expect(try await table.set("a", 1))
      #expect(try await !table.set("a", 2, if: .absent))
      #expect(try await table.set("b", bytes: [1, 2], type: .bytes, if: .absent))
      #expect(try await !table.set("b", bytes: [3], type: .bytes, if: .absent))
      #expect(try table.bytes(forKey: "b") == [1, 2])
      let version = try #require(try table.entry(forKey: "a")).version
      #expect(try await table.set("a", 3, if: .version(version)))
      #expect(try await !table.set("a", 4, if: .version(version)))
      #expect(try await table.increment("a", by: 2) == 5)
      #expect(try await table.remove("a"))
      #expect(try await table.remove(["a", "b"]) == 1)
      _ = try await table.set("soon", 1, expires: .after(.nanoseconds(1)))
      #expect(try await table.administration.sweepExpired() == 1)
      #expect(try await table.barrier { tx in try tx.increment("n") } == 1)
      #expect(try await table.barrier(keys: ["n"]) { tx in try tx.increment("n") } == 2)
    }
  }

  @Test(arguments: Table.Variant.allCases) func ofValuesAndCounters(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let value = try SharedValue<Int>("value", in: table, default: 7)
      #expect(try await value.increment(by: 1) == 8)
      try await value += 2
      try await value -= 1
      #expect(try await value.exchange(20) == 9)
      let refused = try await value.compareExchange(expected: 1, desired: 2)
      #expect(!refused.exchanged && refused.original == 20)
      #expect(try await value.mutate { $0 += 1 } == ())
      try await value.set(30)
      #expect(try value.value == 30)
      #expect(try await value.remove())
      #expect(try value.value == 7)
      let share = try SharedValue<Double>("share", in: table, default: 1)
      try await share += 1.5
      try await share -= 0.25
      #expect(try share.value == 2.25)
      let text = try SharedValue<String>("text", in: table, default: "a")
      try await text += "bc"
      #expect(try text.value == "abc")
      let counter = try SharedCounter("counter", in: table)
      #expect(try await counter.increment(by: 3) == 3)
      #expect(try await counter.reset() == 3)
      #expect(try counter.value == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases) func ofArrays(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let array = try SharedArray<Int>("array", in: table)
      try await array.append(1)
      try await array.append(contentsOf: [2, 3, 4, 5])
      try await array.insert(0, at: 0)
      try await array.set(20, at: 2)
      try await array.mutate(at: 3) { $0 *= 10 }
      #expect(try array.allElements() == [0, 1, 20, 30, 4, 5])
      #expect(try await array.remove(at: 1) == 1)
      #expect(try await array.popFirst() == 0)
      #expect(try await array.popLast() == 5)
      #expect(try await array.removeAll { $0 > 25 } == 1)
      #expect(try array.allElements() == [20, 4])
      #expect(await error { try await array.remove(at: 9) }?.code == .outOfBounds)
      try await array.removeAll()
      #expect(try array.count == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases) func ofDictionaries(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let dictionary = try SharedDictionary<String, Int>("dictionary", in: table)
      try await dictionary.set("a", 1)
      #expect(try await dictionary.updateValue(2, forKey: "a") == 1)
      try await dictionary.mutate("b", default: 10) { $0 += 1 }
      try await dictionary.mutate("a") { $0 = nil }
      try await dictionary.merge(["b": 1, "c": 3]) { old, new in old + new }
      try await dictionary.merge([("d", 4), ("e", 5)])
      #expect(try dictionary.allElements() == ["b": 12, "c": 3, "d": 4, "e": 5])
      #expect(try await dictionary.removeValue(forKey: "b") == 12)
      #expect(try await dictionary.remove(["c", "x"]) == 1)
      #expect(try await dictionary.removeAll { key, _ in key == "d" } == 1)
      #expect(try dictionary.allElements() == ["e": 5])
      try await dictionary.removeAll()
      #expect(try dictionary.count == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases) func ofSets(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let set = try SharedSet<Int>("set", in: table)
      #expect(try await set.insert(1))
      #expect(try await !set.insert(1))
      try await set.formUnion(2...6)
      try await set.subtract([2])
      try await set.formIntersection([3, 4, 5, 9])
      #expect(try await set.remove(3))
      #expect(try await set.removeAll { $0 == 4 } == 1)
      #expect(try set.allElements() == [5])
      try await set.removeAll()
      #expect(try set.count == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases) func ofCaches(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table async throws in
      let cache = try SharedCache<String, Int>("cache", in: table, limit: .entries(100))
      try await cache.set("a", 1)
      #expect(try cache["a"] == 1)
      #expect(try await cache.remove("a"))
      #expect(try await !cache.remove("a"))
      for round in 0..<200 {
        // Submitted before it by the same task, and so not seen after it.
        try cache.set("b", round, waitUntilDone: false)
        try await cache.set("b", -round)
        #expect(try cache["b"] == -round)
      }
      try cache.set("c", 7, waitUntilDone: false)
      try await cache.flush()
      #expect(try table.read { view in try view.count() } > 0)
      try await cache.removeAll()
      #expect(try cache.count == 0)
    }
  }
}

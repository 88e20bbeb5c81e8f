import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Values and collections of one table in a section of another: each form with `in:` refuses, and nothing is written.
@Suite struct WrongSectionTests {
  /// One of each kind, all with something stored.
  private struct Things {
    let array: SharedArray<String>
    let dictionary: SharedDictionary<String, Int>
    let set: SharedSet<String>
    let value: SharedValue<Int>
    let counter: SharedCounter

    init(in table: Table) throws {
      array = try SharedArray("array", in: table, limits: smallNodes)
      dictionary = try SharedDictionary("dictionary", in: table)
      set = try SharedSet("set", in: table)
      value = try SharedValue("value", in: table, default: 0)
      counter = try SharedCounter("counter", in: table)
    }

    func fill() throws {
      for index in 0..<9 { try array.append("old \(index)") }
      try dictionary.set("k", 1)
      try set.insert("k")
      try value.set(1)
      try counter.increment()
    }

    var changes: [(inout Transaction) throws -> Void] {
      [
        { tx in try array.append("new", in: &tx) },
        { tx in try array.append(contentsOf: ["new"], in: &tx) },
        { tx in try array.insert("new", at: 0, in: &tx) },
        { tx in try array.set("new", at: 0, in: &tx) },
        { tx in try array.mutate(at: 0, in: &tx) { $0 = "new" } },
        { tx in _ = try array.remove(at: 0, in: &tx) },
        { tx in _ = try array.popFirst(in: &tx) },
        { tx in _ = try array.popLast(in: &tx) },
        { tx in try array.removeFirst(1, in: &tx) },
        { tx in try array.removeAll(in: &tx) },
        { tx in _ = try array.removeAll(in: &tx) { _ in true } },
        { tx in try dictionary.set("k", 2, in: &tx) },
        { tx in try dictionary.set("k", 2, if: .present, in: &tx) },
        { tx in _ = try dictionary.updateValue(2, forKey: "k", in: &tx) },
        { tx in _ = try dictionary.removeValue(forKey: "k", in: &tx) },
        { tx in try dictionary.remove(["k"], in: &tx) },
        { tx in try dictionary.mutate("k", in: &tx) { $0 = 2 } },
        { tx in try dictionary.removeAll(in: &tx) },
        { tx in _ = try dictionary.removeAll(in: &tx) { _, _ in true } },
        { tx in try set.insert("new", in: &tx) },
        { tx in try set.remove("k", in: &tx) },
        { tx in try set.formUnion(["new"], in: &tx) },
        { tx in try set.subtract(["k"], in: &tx) },
        { tx in try set.formIntersection([], in: &tx) },
        { tx in try set.removeAll(in: &tx) },
        { tx in try value.set(2, in: &tx) },
        { tx in try value.remove(in: &tx) },
        { tx in try value.mutate(in: &tx) { $0 = 2 } },
        { tx in try value.exchange(2, in: &tx) },
        { tx in try value.compareExchange(expected: 1, desired: 2, in: &tx) },
        { tx in try value.increment(in: &tx) },
        { tx in try counter.increment(in: &tx) },
        { tx in try counter.reset(in: &tx) },
      ]
    }

    var reads: [(borrowing ReadView) throws -> Void] {
      [
        { view in _ = try array.count(in: view) },
        { view in _ = try array.get(at: 0, in: view) },
        { view in try array.forEach(in: view) { _, _ in } },
        { view in _ = try dictionary.count(in: view) },
        { view in _ = try dictionary.get("k", in: view) },
        { view in _ = try dictionary.contains("k", in: view) },
        { view in try dictionary.forEach(in: view) { _, _ in } },
        { view in _ = try set.count(in: view) },
        { view in _ = try set.contains("k", in: view) },
        { view in try set.forEach(in: view) { _ in } },
        { view in _ = try value.value(in: view) },
        { view in _ = try counter.value(in: view) },
      ]
    }
  }

  private func expectRefusals(of strangers: Things, in table: Table) throws {
    let before = try contents(table)
    try table.barrier { tx in
      for (number, change) in strangers.changes.enumerated() {
        #expect(refusal { try change(&tx) } == .wrongTable, "change \(number)")
      }
    }
    try table.read { view in
      for (number, read) in strangers.reads.enumerated() {
        #expect(refusal { try read(view) } == .wrongTable, "read \(number)")
      }
    }
    #expect(try contents(table) == before)
  }

  private func refusal(_ body: () throws -> Void) -> TableError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? TableError)?.code }
  }

  private func contents(_ table: Table) throws -> [String: [UInt8]] {
    try table.read { view in
      var contents: [String: [UInt8]] = [:]
      try view.forEach { key, entry in
        let key = unsafe key.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        contents[key] = unsafe entry.bytes.withUnsafeBytes { unsafe [UInt8]($0) }
      }
      return contents
    }
  }

  @Test(arguments: Table.Variant.allCases) func aSectionOfAnotherTableIsRefused(_ variant: Table.Variant) throws {
    try withTable(variant) { one throws in
      try withTable(variant) { two throws in
        try Things(in: two).fill()
        try expectRefusals(of: Things(in: one), in: two)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aTableMadeAnewIsAnother(_ variant: Table.Variant) throws {
    try withTable(variant) { old throws in
      let things = try Things(in: old)
      try things.fill()
      try Table.drop(old.name)
      let new = try Table.create(old.name, Table.Options(variant: variant, capacityBytes: old.capacityBytes))
      try Things(in: new).fill()
      try expectRefusals(of: things, in: new)
    }
  }

  @Test(arguments: Table.Variant.allCases) func anotherHandleOfTheTableWillDo(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let things = try Things(in: table)
      try things.fill()
      let observer = try observer(of: table)
      let observed = try Things(in: observer)
      try table.barrier { tx in try observed.array.append("new", in: &tx) }
      #expect(try things.array.count == 10)
      #expect(try observer.read { view in try things.dictionary.get("k", in: view) } == 1)
      try table.barrier { tx in
        #expect(try things.array.allElements(in: tx).last == "new")
        #expect(try things.dictionary.allElements(in: tx) == ["k": 1])
        #expect(try things.dictionary.remove(["k", "absent"], in: &tx) == 1)
        #expect(try things.set.allElements(in: tx) == ["k"])
        try things.set.formIntersection(["other"], in: &tx)
        #expect(try things.dictionary.allElements(in: tx).isEmpty)
        #expect(try things.set.allElements(in: tx).isEmpty)
      }
    }
  }
}

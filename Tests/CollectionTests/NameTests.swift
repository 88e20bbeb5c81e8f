import TableTestSupport
import Testing

@testable import SharedTable

/// A name belongs to one value or collection of one type, and to nothing else.
@Suite struct NameTests {
  @Test func namesCannotOverlap() throws {
    let table = try Table.temporary()
    for name in ["", "a/b", "/", "a/", "a\n", "\0", "\u{7f}", String(repeating: "x", count: 201)] {
      #expect(code { _ = try SharedValue(name, in: table, default: 0) } == .invalid)
      #expect(code { _ = try SharedDictionary<String, Int>(name, in: table) } == .invalid)
      #expect(code { _ = try SharedSet<String>(name, in: table) } == .invalid)
      #expect(code { _ = try SharedArray<Int>(name, in: table) } == .invalid)
      #expect(code { _ = try SharedCounter(name, in: table) } == .invalid)
    }
    for name in ["x", "com.example.grüß 1", String(repeating: "x", count: 200)] {
      let set = try SharedSet<String>(name, in: table)
      try set.insert("/a/")
      #expect(try set.allElements() == ["/a/"])
    }
  }

  @Test func theElementsOfOneNameAreNotThoseOfAnotherThatBeginsWithIt() throws {
    let table = try Table.temporary()
    let short = try SharedSet<String>("a", in: table)
    let long = try SharedSet<String>("ab", in: table)
    try short.formUnion(["b", "b/c", ""])
    try long.formUnion(["x", "/"])
    #expect(try short.allElements() == ["b", "b/c", ""])
    #expect(try long.allElements() == ["x", "/"])
    try short.removeAll()
    #expect(try long.allElements() == ["x", "/"])
    #expect(try table.read { view in try view.keys() }.count == 4, "two elements, their index and the header")
  }

  /// Whoever chose the name may not be who reads the error.
  @Test func anErrorSpellsControlCharactersOfANameThatCannotBe() throws {
    let table = try Table.temporary()
    let errors = [error { try SharedArray<Int>("a\u{1b}", in: table) }, error { try Table.open("a\u{1b}") }]
    for error in errors { #expect(error?.description.contains(#"'a\x1b'"#) == true, "\(String(describing: error))") }
  }

  /// The table's own API takes any key, so a header may lie under what is no name.
  @Test func aHeaderUnderWhatIsNoNameIsReportedBesideTheOthers() throws {
    let table = try Table.temporary()
    let long = String(repeating: "x", count: 201)
    for target in [long, "a\n"] {
      try SharedArray<Int>("a", in: table).append(1)
      try table.barrier { tx in
        try tx.rename("a", to: target)
        try tx.remove("a/1")
      }
    }
    try table.barrier { tx in
      try cacheHead(pages: 1, of: table).withUnsafeBytes { try tx.set("b\n", bytes: $0, type: .bytes) }
    }
    let problems = try table.checkCollections()
    #expect(problems.count == 3, "\(problems)")
    for name in ["collection '\(long)'", #"collection 'a\x0a'"#, #"cache 'b\x0a'"#] {
      #expect(problems.contains { $0.hasPrefix("\(name): its name can be none") }, "\(problems)")
    }
  }

  private func cacheHead(pages: UInt64, of table: Table) -> [UInt64] {
    [CacheHead.magic, 0, 0, pages, 0, 0, 0, 0, table.segment.hashSeed]
  }

  /// 72 bytes can claim any number of pages.
  @Test func ofManyMissingPagesOfACacheTheFirstAreReported() throws {
    let table = try Table.temporary()
    try table.barrier { tx in
      try cacheHead(pages: 1 << 16, of: table).withUnsafeBytes { try tx.set("c", bytes: $0, type: .bytes) }
    }
    let problems = try table.checkCollections()
    #expect(problems.count == 9, "\(problems.count)")
    #expect(problems.contains("cache 'c': page 7 is missing or cannot be right"))
    #expect(problems.contains("cache 'c': so many pages are wrong that the other 65528 were not looked at"))
  }

  /// What all kinds of owners do to a name of a dictionary from strings to integers.
  private func others(_ name: String, _ table: Table) throws -> [TableError.Code?] {
    let otherValue = try SharedDictionary<String, String>(name, in: table)
    let otherKey = try SharedDictionary<Int, Int>(name, in: table)
    let set = try SharedSet<String>(name, in: table)
    let array = try SharedArray<Int>(name, in: table)
    let text = try SharedValue(name, in: table, default: "")
    let number = try SharedValue(name, in: table, default: 0)
    return [
      code { try otherValue.set("b", "x") }, code { try otherValue.merge(["b": "x"]) },
      code { try otherValue.removeValue(forKey: "none") }, code { _ = try otherValue.count },
      code { try otherValue.mutate("b") { $0 = "x" } }, code { try otherKey.set(1, 1) },
      code { _ = try otherKey.count }, code { try otherKey.forEach { _, _ in } },
      code { try otherKey.removeAll() },
      code { try set.insert("x") }, code { try set.remove("a") }, code { _ = try set.count },
      code { try set.formIntersection([]) }, code { try set.removeAll() }, code { try array.append(1) },
      code { try array.append(contentsOf: []) }, code { _ = try array.count }, code { _ = try array[0] },
      code { _ = try array.allElements() }, code { try array.removeAll() },
      code { try SharedCounter(name, in: table).increment() },
      code { _ = try SharedCounter(name, in: table).reset() }, code { _ = try text.value }, code { try text.set("x") },
      code { try text.remove() }, code { try number.mutate { $0 += 1 } }, code { try number.set(1) },
    ]
  }

  @Test(arguments: Table.Variant.allCases) func anotherTypeUnderANameIsRefusedAndChangesNothing(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let d = try SharedDictionary<String, Int>("d", in: table)
      try d.set("a", 1)
      for (index, outcome) in try others("d", table).enumerated() { #expect(outcome == .typeMismatch, "\(index)") }
      #expect(code { _ = try SharedDictionary<String, String>("d", in: table)["a"] } == .typeMismatch)
      #expect(try d.allElements() == ["a": 1])
      #expect(table.count == 3, "an element, its index and the header")

      // A plain value's name is no collection's.
      try table.set("v", true)
      for (index, outcome) in try others("v", table).enumerated() { #expect(outcome == .typeMismatch, "\(index)") }
      #expect(code { try SharedDictionary<String, Int>("v", in: table).set("a", 1) } == .typeMismatch)
      #expect(try table.get("v", as: Bool.self) == true)
      #expect(table.count == 4)
    }
  }

  @Test func anEmptiedNameIsFreeForAnotherType() throws {
    let table = try Table.temporary()
    let d = try SharedDictionary<String, Int>("n", in: table)
    try d.set("a", 1)
    try d.removeValue(forKey: "a")
    #expect(code { try SharedSet<String>("n", in: table).insert("x") } == .typeMismatch, "it keeps its type when empty")
    try d.removeAll()
    try SharedSet<String>("n", in: table).insert("x")
    #expect(try SharedSet<String>("n", in: table).count == 1)
    try SharedSet<String>("n", in: table).removeAll()
    try SharedArray<Bool>("n", in: table).append(true)
    try SharedArray<Bool>("n", in: table).removeAll()
    try SharedCounter("n", in: table).increment()
    #expect(table.count == 1)
  }
}

import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// How dictionaries and sets know their elements.
@Suite struct ElementIndexTests {
  private func state(_ name: String, _ table: Table) throws -> ElementIndex.State? {
    let place = CollectionPlace(
      table: table, name: try CollectionKeys(name, table), signature: "set of bytes")
    return try table.read { view in try ElementIndex(place: place).state(in: view) }
  }

  /// Up to 2,000 elements come and go, so that pages are split and joined again and again.
  @Test(arguments: Table.Variant.allCases) func itListsWhatThereIsHoweverManyCameAndWent(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let shared = try SharedSet<[UInt8]>("s", in: table)
      var random = SplitMix(seed: 3)
      var model: Set<[UInt8]> = []
      var mostPages = 0
      for round in 0..<40 {
        let isGrowing = round < 20
        let some = (0..<100).map { _ -> [UInt8] in
          if !isGrowing, let known = model.randomElement(using: &random) { return known }
          return (0..<random.below(60)).map { _ in UInt8(random.below(256)) }
        }
        if isGrowing { try shared.formUnion(some) } else { try shared.subtract(some) }
        if isGrowing { model.formUnion(some) } else { model.subtract(some) }
        let one = [UInt8(random.below(256)), 255]
        #expect(try shared.insert(one) == model.insert(one).inserted)
        #expect(try shared.allElements() == model)
        #expect(try shared.count == model.count)
        let state = try #require(try state("s", table))
        #expect(state.bytes == model.reduce(0) { $0 + 4 + $1.count })
        #expect(!state.isCrowded && !state.isSparse)
        mostPages = max(mostPages, state.pages)
      }
      #expect(mostPages > 80)
      try shared.subtract(model)
      #expect(try shared.allElements() == [])
      #expect(try state("s", table)?.pages == 1)
      #expect(table.count == 1, "empty pages are not stored: the header is left")
      try shared.formUnion(model)
      try shared.removeAll()
      #expect(table.count == 0)
    }
  }

  @Test func keysLargerThanAPageAndWithItsOwnFirstByteAreKeysLikeOthers() throws {
    let table = try Table.temporary()
    let shared = try SharedDictionary<[UInt8], Int>("d", in: table)
    let keys: [[UInt8]] = [
      [], [255], [255, 255], [255, 48], Array("0".utf8), [UInt8](repeating: 255, count: 5000),
      [UInt8](repeating: 7, count: 5000), [UInt8](repeating: 8, count: 800), [UInt8](repeating: 9, count: 801),
    ]
    for (index, key) in keys.enumerated() { try shared.set(key, index) }
    #expect(try shared.allElements() == Dictionary(uniqueKeysWithValues: zip(keys, 0...)))
    try table.barrier { tx in for (index, key) in keys.enumerated() { try shared.set(key, index, in: &tx) } }
    #expect(try shared.count == keys.count)
    #expect(try shared.allElements() == Dictionary(uniqueKeysWithValues: zip(keys, 0...)))
    for (index, key) in keys.enumerated() { #expect(try shared[key] == index) }
    for (index, key) in keys.enumerated() { #expect(try shared.removeValue(forKey: key) == index) }
    #expect(try shared.isEmpty && shared.keys().isEmpty)
  }

  /// By way of the table's own API, which knows nothing of the index.
  @Test func whatOthersStoreOrRemoveIsNotCounted() throws {
    let table = try Table.temporary()
    let shared = try SharedDictionary<String, Int>("d", in: table)
    try shared.merge(["a": 1, "b": 2])
    try table.set("d/x", 3)
    #expect(try table.remove("d/a"))
    #expect(try shared["x"] == 3)
    #expect(try shared.count == 2)
    #expect(try shared.allElements() == ["b": 2])
    try shared.set("a", 4)
    #expect(try shared.count == 2, "it was listed all the time")
    #expect(try shared.allElements() == ["a": 4, "b": 2])
    #expect(try table.remove("d/a"))
    #expect(try shared.removeValue(forKey: "a") == nil)
    #expect(try shared.removeValue(forKey: "x") == 3)
    #expect(try shared.count == 1)
  }

  /// A header that somebody removed leaves pages behind, of which nothing may come back.
  @Test func pagesOfAnEarlierHeaderAreNotBelieved() throws {
    let table = try Table.temporary()
    let shared = try SharedSet<Int>("s", in: table)
    try shared.formUnion(0..<1000)
    #expect(try table.remove("s"))
    #expect(try shared.count == 0)
    try shared.formUnion(500..<2000)
    #expect(try shared.count == 1500)
    #expect(try shared.allElements() == Set(500..<2000))
  }

  /// A load over a collection may leave a page that lists keys by another seed. A split of that page drops no listing of another one.
  @Test func aSplitOfAPageWithStrangeKeysLosesNoListings() throws {
    let table = try Table.temporary()
    let shared = try SharedSet<[UInt8]>("s", in: table)
    var model = Set((0..<600).map { Array("element \($0)".utf8) })
    try shared.formUnion(model)
    let before = try #require(try state("s", table))
    let next = before.pages - before.round
    let strange = try #require(model.first { unsafe $0.withUnsafeBytes { unsafe before.page(of: $0) } != next })
    let key = Array("s/".utf8) + [255] + Array("\(next)".utf8)
    let listing = unsafe withUnsafeBytes(of: UInt32(strange.count)) { unsafe Array($0) } + strange
    try table.set(key, ForgedPage(bytes: try #require(try table.entry(forKey: key)).bytes + listing))
    while try #require(try state("s", table)).pages == before.pages {
      let new = Array("element \(model.count)".utf8)
      try shared.insert(new)
      model.insert(new)
    }
    #expect(try shared.allElements() == model)
  }

  @Test func aPageThatCannotBeReadIsDamageAndEmptyingMendsIt() throws {
    let table = try Table.temporary()
    let shared = try SharedSet<String>("s", in: table)
    try shared.formUnion(["a", "b"])
    let page = Array("s/".utf8) + [255] + Array("0".utf8)
    let stored = try #require(try table.entry(forKey: page)).bytes
    for bytes in [Array(stored.dropLast()), stored + [1], [255, 255, 255, 255], [1, 0, 0]] {
      try table.set(page, ForgedPage(bytes: bytes))
      let error = #expect(throws: TableError.self) { try shared.allElements() }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains("page 0 of its index") == true)
      #expect(throws: TableError.self) { try shared.insert("c") }
      #expect(try shared.contains("a"), "an element is found without the index")
    }
    try shared.removeAll()
    #expect(table.count == 0)
    try shared.insert("c")
    #expect(try shared.allElements() == ["c"])
  }

  /// Of listings whose keys are longer than those of a table, be it by the collection's name or a doubled byte.
  @Test func aListedKeyThatCannotBeIsDamageAndEmptyingMendsIt() throws {
    let table = try Table.temporary()
    let shared = try SharedSet<[UInt8]>("s", in: table)
    let page = Array("s/".utf8) + [255] + Array("0".utf8)
    for (length, first) in [(70_000, 7), (65_536, 7), (65_535, 7), (65_534, 255)] as [(Int, UInt8)] {
      try shared.formUnion([[1], [2]])
      let key = [first] + [UInt8](repeating: 7, count: length - 1)
      let bytes = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + key
      try table.set(page, ForgedPage(bytes: bytes))
      #expect(code { _ = try shared.allElements() } == .damaged, "\(length) bytes")
      #expect(try table.checkCollections() != [])
      try shared.removeAll()
      #expect(table.count == 0, "\(length) bytes")
    }
    // The longest key that can be.
    let longest = [UInt8](repeating: 7, count: 65_534)
    try shared.insert(longest)
    #expect(try shared.allElements() == [longest])
    try shared.removeAll()
    #expect(table.count == 0)
  }

  /// A page that lists a key again and again would show more than the table holds, and a copy of that could take all memory.
  @Test(arguments: Table.Variant.allCases)
  func aWalkMeetsNoMoreThanTheTableHolds(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let shared = try SharedDictionary<String, [UInt8]>("d", in: table)
      try shared.set("k", [UInt8](repeating: 7, count: 64 << 10))
      let page = Array("d/".utf8) + [255] + Array("0".utf8)
      let listing = try #require(try table.entry(forKey: page)).bytes
      let times = 2 * table.capacityBytes / (64 << 10)
      try table.set(page, ForgedPage(bytes: (0..<times).flatMap { _ in listing }))
      for table in [table, try observer(of: table)] {
        let shared = try SharedDictionary<String, [UInt8]>("d", in: table)
        var met = 0
        let failure = error { try shared.forEach { _, _ in met += 1 } }
        #expect(failure?.code == .damaged)
        #expect(failure?.message.contains("several times") == true)
        #expect(met < times)
      }
      try shared.removeAll()
      #expect(table.count == 0)
    }
  }

  /// A header that is wrong makes nothing loop or grow beyond the table.
  @Test func aHeaderThatCannotBeIsDamageAndOneThatIsWrongBoundsTheWork() throws {
    let table = try Table.temporary()
    let shared = try SharedSet<Int>("s", in: table)
    try shared.formUnion(0..<100)
    let most = table.capacityBytes
    let impossible: [CollectionHeader.Numbers] = [
      [5, 19, 1, 0, 0], [1, 20, most / 256 + 2, 0, 0], [1, 1 << 50, 1, 0, 0], [0, 0, 0, 0, 0], [1, most, most, 0, 0],
      [1 << 58, 1 << 58, 1 << 30, 0, 0], [1 << 62, 1 << 62, 1, 0, 0], [-1, 300, 1, 0, 0],
    ]
    for numbers in impossible {
      try table.set("s", CollectionHeader("set of integer", numbers))
      #expect(throws: TableError.self, "\(numbers[0])") { try shared.count }
      #expect(throws: TableError.self, "\(numbers[0])") { try shared.insert(1000) }
      #expect(throws: TableError.self, "\(numbers[0])") { try shared.allElements() }
    }
    // One that could be, of another set.
    try table.set("s", CollectionHeader("set of integer", [most / 8, most / 2, 1, 5, 0]))
    try shared.insert(1001)
    #expect(try shared.allElements().contains(1001))
    try table.set("s", CollectionHeader("set of integer", [1, most / 8, most / 256, 5, 0]))
    try shared.insert(1002)
    try shared.remove(1002)
    try shared.removeAll()
    #expect(try shared.count == 0)
  }
}

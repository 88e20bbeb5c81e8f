import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Removals from collections in a table that has no room.
@Suite struct FullTableTests {
  /// The index has as many pages as it may have, so that the next removal joins two.
  @Test(arguments: Table.Variant.allCases)
  func aRemovalFromADictionaryNeedsNoRoomForAJoinedPage(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table throws in
      let shared = try SharedDictionary<String, Int>("d", in: table)
      let index = ElementIndex(place: shared.store.place)
      func state() throws -> ElementIndex.State { try #require(try table.read { view in try index.state(in: view) }) }
      var keys = (10_000..<12_000).map { "\($0)" }
      try shared.merge(keys.map { ($0, 1) })
      func isNextToJoin() throws -> Bool {
        let state = try state()
        return state.bytes - ElementPage.byteCount(5) < (state.pages - 1) * (ElementIndex.State.pageBytes / 2)
      }
      while try !isNextToJoin() { try shared.removeValue(forKey: keys.removeLast()) }
      let pages = try state().pages
      #expect(pages > 20)
      try fillInEverySize(table)
      for _ in 0..<3 { #expect(throws: Never.self) { try shared.removeValue(forKey: keys.removeLast()) } }
      #expect(try table.checkCollections() == [])
      #expect(Set(try shared.keys()) == Set(keys))
      // With room again, each removal gives up a page until there are no more than the listings need.
      try removeFilling(table)
      for _ in 0..<50 { try shared.removeValue(forKey: keys.removeLast()) }
      #expect(try !state().isSparse)
      #expect(try table.checkCollections() == [])
      #expect(Set(try shared.keys()) == Set(keys))
      try shared.remove(keys)
      #expect(try state().pages == 1)
    }
  }

  /// Two leaves that are joined when one of them loses an element more.
  @Test(arguments: Table.Variant.allCases)
  func everyElementOfAnArrayCanBeRemoved(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table throws in
      let shared = try SharedArray<Int>("a", in: table)
      try shared.append(contentsOf: 0..<257)
      try shared.removeFirst(64)
      for _ in 0..<95 { try shared.remove(at: 64) }
      var model = Array(64..<128) + Array(223..<257)
      #expect(try shared.allElements() == model)
      try fillInEverySize(table)
      while !model.isEmpty {
        let index = model.count / 3
        #expect(throws: Never.self) { try shared.remove(at: index) }
        model.remove(at: index)
        #expect(try shared.allElements() == model)
      }
      #expect(try table.checkCollections() == [])
    }
  }

  /// Joins on several levels, at any place.
  @Test(arguments: Table.Variant.allCases)
  func aDeepArrayStaysWhole(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table throws in
      let limits = ArrayLimits(leafElements: 8, leafBytes: 512, children: 8)
      let shared = try SharedArray<String>("a", in: table, limits: limits)
      var model = (0..<600).map { "element \($0)" }
      try shared.append(contentsOf: model)
      try fillInEverySize(table)
      var random = SplitMix(seed: 4)
      while !model.isEmpty {
        let index = random.below(model.count)
        #expect(throws: Never.self) { try shared.remove(at: index) }
        model.remove(at: index)
        if model.count % 50 == 0 {
          #expect(try shared.allElements() == model)
          #expect(try table.checkCollections() == [])
        }
      }
    }
  }

  /// Pages become smaller, each of another size than the next.
  @Test(arguments: Table.Variant.allCases)
  func everyElementOfADictionaryCanBeRemoved(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table throws in
      let shared = try SharedDictionary<String, Int>("d", in: table)
      var keys = (10_000..<11_000).map { "\($0)" }
      try shared.merge(keys.map { ($0, 1) })
      try fillInEverySize(table)
      var random = SplitMix(seed: 7)
      keys.shuffle(using: &random)
      while let key = keys.popLast() {
        #expect(throws: Never.self) { try shared.removeValue(forKey: key) }
        if keys.count % 100 == 0 {
          #expect(Set(try shared.keys()) == Set(keys))
          #expect(try table.checkCollections() == [])
        }
      }
    }
  }
}

import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Removals from collections in a table that has no room.
@Suite struct FullTableTests {
  /// Stores keys of its own, those with the longest values first, until the table takes none of any length.
  private func fill(_ table: Table) {
    var number = 0
    for length in stride(from: 4000, through: 0, by: -16) {
      let value = [UInt8](repeating: 1, count: length)
      var failure: TableError?
      while failure == nil {
        failure = error { try table.set("filling \(number)", value) }
        number += 1
      }
      #expect(failure?.code == .full)
    }
  }

  /// Removes what ``fill(_:)`` has stored.
  private func empty(_ table: Table) throws {
    for key in try table.read({ view in try view.keys(prefix: "filling ") }) {
      try table.barrier { tx in _ = try tx.remove(key) }
    }
  }

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
      fill(table)
      for _ in 0..<3 { #expect(throws: Never.self) { try shared.removeValue(forKey: keys.removeLast()) } }
      #expect(try table.checkCollections() == [])
      #expect(Set(try shared.keys()) == Set(keys))
      // With room again, each removal gives up a page until there are no more than the listings need.
      try empty(table)
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
      fill(table)
      while !model.isEmpty {
        let index = model.count / 3
        #expect(throws: Never.self) { try shared.remove(at: index) }
        model.remove(at: index)
        #expect(try shared.allElements() == model)
      }
      #expect(try table.checkCollections() == [])
    }
  }

  /// Joins on several levels, at any place. A removal that finds no room even without them changes nothing.
  @Test(arguments: Table.Variant.allCases)
  func aDeepArrayStaysWhole(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table throws in
      let limits = ArrayLimits(leafElements: 8, leafBytes: 512, children: 8)
      let shared = try SharedArray<String>("a", in: table, limits: limits)
      var model = (0..<600).map { "element \($0)" }
      try shared.append(contentsOf: model)
      fill(table)
      var random = SplitMix(seed: 4)
      var refused = 0
      while !model.isEmpty {
        if model.count == 100 { try empty(table) }
        let index = random.below(model.count)
        switch code({ try shared.remove(at: index) }) {
        case nil: model.remove(at: index)
        case let code:
          #expect(code == .full)
          refused += 1
          #expect(refused < 10_000, "\(model.count) elements are left")
          if refused == 10_000 { return }
        }
        if model.count % 50 == 0 {
          #expect(try shared.allElements() == model)
          #expect(try table.checkCollections() == [])
        }
      }
    }
  }
}

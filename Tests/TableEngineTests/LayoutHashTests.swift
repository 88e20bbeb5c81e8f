import Testing

@testable import TableEngine

/// The layout hash stands for every byte that two processes must agree on.
@Suite struct LayoutHashTests {
  private static let items = (LayoutHash.formatItems + LayoutHash.regionItems).map { FormatItem($0) }

  private static let changes: [(what: String, change: @Sendable (inout FormatItem) -> Void)] = [
    ("another owner", { $0.owner += "x" }), ("another name", { $0.name += "x" }),
    ("another offset or value", { $0.value ^= 8 }), ("another size", { $0.size ^= 8 }),
    ("a letter that moved from the owner to the name", { $0.name = String($0.owner.removeLast()) + $0.name }),
  ]

  @Test func theHashOfATableIsThatOfTheseItems() { #expect(Self.items.hash == LayoutHash.value) }

  @Test func changingAnyFieldOrConstantChangesTheHash() {
    for index in Self.items.indices {
      for (what, change) in Self.changes {
        var items = Self.items
        change(&items[index])
        #expect(items.hash != LayoutHash.value, "\(Self.items[index]): \(what)")
      }
    }
  }

  @Test func removingOrRepeatingAnyFieldOrConstantChangesTheHash() {
    for index in Self.items.indices {
      var items = Self.items
      let item = items.remove(at: index)
      #expect(items.hash != LayoutHash.value, "without \(item)")
      items.insert(contentsOf: [item, item], at: index)
      #expect(items.hash != LayoutHash.value, "with two of \(item)")
    }
  }

  @Test func theFieldsOfEachStructLieSideBySideFromItsBeginningToItsEnd() {
    let structs = Self.structs
    #expect(structs.count > 20)
    for (owner, items) in structs { #expect(Self.gap(items) == nil, "\(owner)") }
  }

  /// So a field that is not in the list is found.
  @Test func aListThatLacksAFieldHasAGap() {
    for (owner, items) in Self.structs {
      for index in items.indices where items[index].name != "" {
        var rest = items
        rest.remove(at: index)
        #expect(Self.gap(rest) != nil, "\(owner) without \(items[index].name)")
      }
    }
  }

  private static var structs: [String: [FormatItem]] {
    Dictionary(grouping: items.filter { $0.owner.hasPrefix("shm_") }, by: \.owner)
  }

  /// Where in the struct nothing lies, or two fields do. The item of the struct itself has no name.
  private static func gap(_ items: [FormatItem]) -> UInt64? {
    var end: UInt64 = 0
    for field in items.filter({ $0.name != "" }).sorted(by: { $0.value < $1.value }) {
      if field.value != end { return end }
      end += field.size
    }
    return items.first { $0.name == "" }?.size == end ? nil : end
  }
}

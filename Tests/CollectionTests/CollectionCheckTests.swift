import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// What `checkCollections` says.
@Suite struct CollectionCheckTests {
  /// Fills the set "s", or empties it and fills it anew.
  private static func fill(_ table: Table) throws {
    let elements = try SharedSet<Int>("s", in: table)
    try elements.removeAll()
    try elements.formUnion(0..<500)
  }

  /// Writers have overtaken the observer: that is said, and nothing of damage.
  @Test(arguments: Table.Variant.allCases)
  func aSnapshotThatIsTooOldIsNoDamage(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try Self.fill(table)
      let header = try #require(try table.get("s", as: CollectionHeader.self))
      let refusal = error {
        try observer(of: table).read { view in
          // Removed and stored again, it is of no version that the view shows.
          let writer = TestThread { for _ in 0..<20 { try Self.fill(table) } }
          try writer.join()
          let problems = try CollectionCheck.problems(of: Array("s".utf8), header, [], view)
          Issue.record("it found \(problems)")
        }
      }
      #expect(refusal?.code == .snapshotTooOld)
    }
  }

  /// A node's and a page's number has one form; other forms of the same number are keys of something else.
  @Test func aNumberInAnotherFormIsNoPart() throws {
    let table = try Table.temporary()
    try SharedArray<Int>("a", in: table).append(1)
    try SharedSet<Int>("s", in: table).insert(1)
    for (name, first) in [("a/", []), ("s/", [0xff])] as [(String, [UInt8])] {
      let number = name == "a/" ? "1" : "0"
      for other in ["0" + number, "+" + number, "-" + number] {
        let key = Array(name.utf8) + first + Array(other.utf8)
        #expect(try table.checkCollections() == [])
        try table.set(key, 1)
        #expect(try table.checkCollections().count == 1, "\(name)\(other)")
        try table.remove(key)
      }
    }
  }

  /// A page may list a key as often as it has room for it.
  @Test func whatIsWrongManyTimesIsSaidAFewTimes() throws {
    let table = try Table.temporary()
    let elements = try SharedSet<[UInt8]>("s", in: table)
    try elements.formUnion([[1], [2]])
    let page = Array("s/".utf8) + [255] + Array("0".utf8)
    try table.set(page, ForgedPage(bytes: [UInt8](repeating: 0, count: 4 * 5000)))
    let problems = try table.checkCollections()
    #expect(problems.count { $0.contains("listed twice") } == 8)
    #expect(problems.contains { $0.contains("'' is listed twice") })
    #expect(problems.contains { $0.hasSuffix("and 4991 more of this kind") })
    #expect(problems.count < 15)
  }

  /// An array without its leaves: a few are named, and no other key is said to be none of its nodes.
  @Test func anArrayIsGivenUpAfterAFewWrongNodes() throws {
    let table = try Table.temporary()
    let array = try SharedArray<Int>("a", in: table, limits: smallNodes)
    for index in 0..<400 { try array.insert(index, at: index / 2) }
    let leaves = try table.read { view in try view.keys(prefix: "a/") }.filter {
      try table.bytes(forKey: $0)?.first == 0
    }
    #expect(leaves.count > 50)
    for leaf in leaves { try table.remove(leaf) }
    try table.set("a/stranger", 1)
    let problems = try table.checkCollections()
    #expect(problems.count { $0.contains("is missing") } == 8)
    #expect(problems.count == 9, "\(problems)")
    #expect(problems.last?.contains("so many nodes are wrong that no others were looked at") == true)
  }
}

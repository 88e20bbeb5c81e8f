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
}

import Foundation
import Glibc
import SharedTable
import Testing

@Suite struct CollectionCheckTests {
  /// A table with one collection of each kind, of many elements.
  private func filled() throws -> (TestTable, Table) {
    let table = try TestTable(Table.Options(capacityBytes: 16 << 20))
    let handle = try table.open()
    let array = try SharedArray<Int>("documents", in: handle)
    for number in 0..<20 {
      try handle.barrier { tx in
        for index in 0..<100 { try array.append(number * 100 + index, in: &tx) }
      }
    }
    let dictionary = try SharedDictionary<String, Int>("users", in: handle)
    let set = try SharedSet<String>("tags", in: handle)
    for index in 0..<200 {
      try dictionary.set("user\(index)", index)
      try set.insert("tag\(index)")
    }
    let cache = try SharedCache<String, String>("pages", in: handle, limit: .entries(100))
    for index in 0..<150 { try cache.set("page\(index)", "value") }
    try cache.flush()
    return (table, handle)
  }

  private func problems(_ table: TestTable) throws -> [String] {
    let run = try CommandRun(["check", table.name, "--json"])
    #expect(run.status == 9, "\(run.text)")
    #expect(run.errors.contains("the table is sound, problems found in collections"))
    let object = run.objects.first ?? nil
    #expect(object?["sound"] as? Bool == false && (object?["problems"] as? [String])?.isEmpty == true)
    return object?["collectionProblems"] as? [String] ?? []
  }

  @Test func wholeCollectionsAreSound() throws {
    let (table, handle) = try filled()
    let run = try CommandRun(["check", table.name])
    #expect(run.status == 0 && run.output.isEmpty, "\(run.text)")
    // Emptied and shrunk ones, too.
    try SharedArray<Int>("documents", in: handle).removeAll()
    for index in 0..<199 { try SharedDictionary<String, Int>("users", in: handle).removeValue(forKey: "user\(index)") }
    let strange = try SharedSet<[UInt8]>("strange", in: handle)
    for bytes in [[], [0xff], [0xff, 0xff], [0xff, 0x31], [0x2f, 0x2f]] as [[UInt8]] { try strange.insert(bytes) }
    #expect(try CommandRun(["check", table.name]).status == 0)
  }

  @Test func aNodeRemovedBehindAnArraysBackIsReported() throws {
    let (table, handle) = try filled()
    try handle.remove("documents/1")
    let found = try problems(table)
    #expect(
      found.count == 1 && found[0].hasPrefix("collection 'documents': node 1 ('documents/1') is missing"), "\(found)")
  }

  @Test func aNodeThatIsNoneIsReported() throws {
    let (table, handle) = try filled()
    try handle.set("documents/2", "text")
    #expect(try problems(table) == ["collection 'documents': node 2: it is no node"])
    try handle.set("documents/99999", "text")
    #expect(try problems(table).contains { $0.contains("the key 'documents/99999' is no node of it") })
  }

  @Test(arguments: [("users", "user7"), ("tags", "tag7")])
  func anElementRemovedBehindItsBackIsReported(name: String, key: String) throws {
    let (table, handle) = try filled()
    try handle.remove("\(name)/\(key)")
    let found = try problems(table)
    #expect(
      found == [
        "collection '\(name)': element '\(key)' is listed, and its key is not there: removed, or expired, "
          + "behind the collection's back"
      ])
  }

  @Test func anElementStoredBehindItsBackIsReported() throws {
    let (table, handle) = try filled()
    try handle.set("users/stranger", 1)
    #expect(try problems(table).contains { $0.contains("the key of 'stranger' is there, and it is not listed") })
  }

  @Test func aMissingIndexPageIsReportedInAFewLines() throws {
    let (table, handle) = try filled()
    try handle.remove(Array("tags/".utf8) + [0xff] + Array("0".utf8))
    let found = try problems(table)
    #expect(found.contains { $0.contains("its header counts 200 elements, listed are ") })
    #expect(found.contains { $0.contains(" is not listed: ") } && found.contains { $0.contains("more of this kind") })
    #expect(found.count < 14)
  }

  @Test func aMissingHeaderIsReported() throws {
    let (table, handle) = try filled()
    try handle.remove("users")
    try handle.remove("documents")
    #expect(
      try problems(table)
        == ["documents", "users"].map {
          "collection '\($0)': its header is missing, and parts of it are there"
        })
  }

  @Test func aMissingHeadOfACacheIsReported() throws {
    let (table, handle) = try filled()
    // These look like a ledger's page, and belong to no cache.
    try handle.set("mine#r0", [UInt8](repeating: 1, count: 64))
    try handle.set("mine/a", 1)
    #expect(try CommandRun(["check", table.name]).status == 0)
    try handle.remove("pages")
    #expect(
      try problems(table) == [
        "cache 'pages': its head is missing, and elements of it are there; the next write makes it anew"
      ])
    try handle.set("pages", "something else")
    #expect(try problems(table).contains { $0.hasPrefix("cache 'pages': something else has its name, ") })
    try handle.remove("pages")
    try SharedCache<String, String>("pages", in: handle, limit: .entries(100)).set("page1", "value")
    #expect(try CommandRun(["check", table.name]).status == 0)
  }

  /// A cache that has evicted from a full table leaves the same behind.
  @Test func anElementRemovedBehindACachesBackIsNoDamage() throws {
    let (table, handle) = try filled()
    try handle.remove("pages/page149")
    #expect(try CommandRun(["check", table.name]).status == 0)
  }
}

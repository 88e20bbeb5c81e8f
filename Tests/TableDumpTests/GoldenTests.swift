import Foundation
import SharedTable
import TableDump
import Testing

/// Dumps that releases wrote, as they wrote them. Never change one: add those of a new format beside them.
@Suite struct GoldenTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Golden")

  @Test(arguments: ["format-1.dump", "format-1.jsonl"])
  func aDumpOfEveryFormatLoads(file: String) throws {
    let path = Self.folder.appendingPathComponent(file)
    let table = try Table.temporary()
    let header = try DumpBytes.load([UInt8](Data(contentsOf: path)), into: table)
    try bringStructsUpToDate(in: table)
    #expect(try DumpBytes.contents(table) == DumpBytes.contents(Table.varied()))
    #expect(try table.get("struct", as: Sample.self)?.time == 7)
    #expect(header.variant == .rcu && header.capacityBytes == 4 << 20 && header.prefix.isEmpty)
  }

  /// As whoever owns such a table may: since that release the names of integers belong to a struct's layout, so what it stored is
  /// another's, and never read as ours.
  private func bringStructsUpToDate(in table: Table) throws {
    try table.barrier { tx in
      for key in ["struct", "struct-"] {
        #expect(throws: TableError.self) { try tx.get(key, as: Sample.self) }
        let entry = try #require(try tx.entry(forKey: key))
        let sample = try #require(entry.bytes.withUnsafeBytes { Sample(tableBytes: $0) })
        try tx.set(key, sample, expires: entry.expiry.map { .at(nanosecondsSince1970: $0) } ?? .never)
      }
    }
  }
}

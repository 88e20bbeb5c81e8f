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
    #expect(try DumpBytes.contents(table) == DumpBytes.contents(Table.varied()))
    #expect(try table.get("struct", as: Sample.self)?.time == 7)
    #expect(header.variant == .rcu && header.capacityBytes == 4 << 20 && header.prefix.isEmpty)
  }
}

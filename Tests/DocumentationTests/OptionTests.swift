import Foundation
import SharedTable
import Testing

/// The page on the options of a table.
@Suite struct OptionTests {
  private func rows() throws -> [[Substring]] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = root.appendingPathComponent("Sources/SharedTable/SharedTable.docc/OptionsOfATable.md")
    return try String(contentsOf: page, encoding: .utf8).split(separator: "\n").compactMap { line in
      line.firstMatch(of: /^\| `(.+?)` \| (?:`(.+?)` \|)?/).map { [$0.output.1, $0.output.2 ?? ""] }
    }
  }

  @Test func thePageHasEachOptionWithItsDefault() throws {
    let options = Table.Options()
    // Nil stands for what is computed of the capacity.
    #expect(options.limboBudgetBytes == max(256 << 10, options.capacityBytes / 4))
    let expected = [
      "variant": ".\(options.variant)", "capacityBytes": "\(options.capacityBytes >> 20) << 20",
      "mode": "0o\(String(options.mode, radix: 8))", "owner": options.owner.map { "\($0)" } ?? "nil",
      "group": options.group.map { "\($0)" } ?? "nil", "limboBudgetBytes": "nil",
      "stalledReaderPolicy": ".\(options.stalledReaderPolicy)", "preallocate": "\(options.preallocate)",
      "hugePages": "\(options.hugePages)",
    ]
    let found = try rows().filter { !$0[1].isEmpty }
    #expect(Dictionary(uniqueKeysWithValues: found.map { (String($0[0]), String($0[1])) }) == expected)
    // What a program may set when it makes the options.
    let others = ["features", "poisonsFreedBlocks", "hashSeed"]
    let names = Mirror(reflecting: options).children.compactMap(\.label).filter { !others.contains($0) }
    #expect(found.map { String($0[0]) } == names)
  }

  @Test func thePageHasEachPolicy() throws {
    let rows = try rows().map { $0[0] }
    for policy in Table.StalledReaderPolicy.allCases { #expect(rows.contains(".\(policy)")) }
  }
}

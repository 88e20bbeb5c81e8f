import Foundation
import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// The page on errors.
@Suite struct FailureTests {
  /// A reader must find each error in one table, with one answer to whether another attempt helps.
  @Test func thePageHasEachErrorOnce() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = root.appendingPathComponent("Sources/SharedTable/SharedTable.docc/WhenACallFails.md")
    let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").compactMap { line in
      line.firstMatch(of: /^\| `([A-Za-z]+)` \|/)?.output.1
    }
    #expect(rows.map(String.init).sorted() == TableError.Code.allCases.map(\.rawValue).sorted())
  }

  @Test(arguments: Table.Variant.allCases) func aVisitIsCountedOnceTheHolderHasLeft(_ variant: Table.Variant) throws {
    try withTableName { (name: String) throws -> Void in
      let held = try Table.create(name, Table.Options(variant: variant))
      let counting = try Table.open(name, timeout: .milliseconds(5))
      try held.barrier { _ in
        let visitor = TestThread { try countVisit(by: "Ann", in: counting) }
        // All three attempts, the last of which throws.
        let error = #expect(throws: TableError.self) { try visitor.join() }
        #expect(error?.code == .timedOut)
      }
      #expect(try counting.get("visits", as: Int.self) == nil)
      try countVisit(by: "Ann", in: counting)
      #expect(try counting.get("visits", as: Int.self) == 1)
    }
  }
}

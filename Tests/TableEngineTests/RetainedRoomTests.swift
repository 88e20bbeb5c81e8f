import Glibc
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// As many old versions as there are records for, each of which another snapshot needs.
@Suite struct RetainedRoomTests {
  private static let keyCount = 5000

  /// Overwrites all keys, again and again, with a snapshot between.
  private func fill(_ table: Table, _ snapshots: inout [Snapshot]) -> TableError? {
    while snapshots.count < 12 {
      do throws(TableError) {
        for index in 0..<Self.keyCount { try table.set("\(index)", [UInt8]()) }
        snapshots.append(try table.snapshot())
      } catch {
        return error
      }
    }
    return nil
  }

  private func empty(_ table: Table) throws {
    for index in 0..<Self.keyCount { try table.remove("\(index)") }
    #expect(table.count == 0)
    try table.set("k", [UInt8](repeating: 1, count: 100_000))
    #expect(try table.check() == [])
  }

  private func withTable(_ policy: Table.StalledReaderPolicy, _ body: (Table) throws -> Void) throws {
    let options = Table.Options(capacityBytes: 2 << 20, limboBudgetBytes: 1 << 30, stalledReaderPolicy: policy)
    try withTableName { name in try body(Table.create(name, options)) }
  }

  /// When the snapshots have ended, a pass looks at the versions again, and puts those back into the ring that others need. So it
  /// keeps room for as many as it looks at.
  @Test func aReaderIsNamedAndAPassCanGoOn() throws {
    try withTable(.refuse) { table throws in
      var snapshots: [Snapshot] = []
      let refused = fill(table, &snapshots)
      #expect(refused?.code == .full && refused?.holder?.pid == getpid(), "\(String(describing: refused))")
      let retained = try #require(table.segment.participant).state.retained
      #expect(retained.count > retained.maximumRecords / 2)
      #expect(retained.maximumRecords - retained.count > UnlinkPass.batch)
      for snapshot in snapshots { #expect(try snapshot.read { view in try view.count() } == Self.keyCount) }
      snapshots = []
      try empty(table)
    }
  }

  @Test func snapshotsAreEvictedWhereThePolicySaysSo() throws {
    try withTable(.evict) { table throws in
      var snapshots: [Snapshot] = []
      #expect(fill(table, &snapshots) == nil)
      #expect(code { _ = try snapshots[0].get("1", as: [UInt8].self) } == .snapshotTooOld)
      try empty(table)
    }
  }
}

import CFaultyDisk
import SharedTable
import TestSupport
import Testing

@testable import TableStore

/// How `recent` gets into `kv`.
@Suite struct FoldingTests {
  @Test func rowsOfSeveralRunsComeInOrder() {
    var random = SplitMix(seed: 7)
    var (runs, rows, sequence) = (SortedRuns(), [SortedRuns.Row](), UInt64(0))
    #expect(runs.isEmpty && runs.popFirst() == nil)
    for length in [0, 1, 50, 7, 0, 300, 20, 1] {
      let run = (0..<length).map { _ in
        sequence += 1
        return (word: UInt64.random(in: 0..<40, using: &random), sequence: sequence)
      }
      runs.add(run)
      rows += run
    }
    var popped: [UInt64] = []
    while let next = runs.popFirst() { popped.append(next) }
    #expect(popped == rows.sorted(by: <).map(\.sequence))
    #expect(runs.isEmpty)
  }
}

// The disk is the process's.
extension FaultTests {
  /// A commit waits for a slice: none is as long as the file.
  @Test func noSliceOfFoldingReadsAllOfAStore() throws {
    try withTableAndDisk(capacityBytes: 24 << 20) { name, table, directory in
      let first = try Follower(table, in: directory, disk: "faulty")
      var random = SplitMix(seed: 3)
      let value = [UInt8](repeating: 7, count: 3900)
      for round in 0..<40 {
        for _ in 0..<200 { try table.set("key \(Int.random(in: 0..<3000, using: &random))", value + [UInt8(round)]) }
        try first.sync()
      }
      first.close()
      // What is read is read from the file.
      faulty_disk_plan(FAULTY_DISK_NONE, 0)
      let second = try Follower(table, in: directory, disk: "faulty")
      var (slices, isFolding) = (0, true)
      while isFolding {
        var mostBytes: UInt64 = 16 << 20
        // To delete a row takes three looks at its pages.
        if case .deleting? = second.store?.folding?.step { mostBytes = 56 << 20 }
        let before = faulty_disk_bytes_read()
        isFolding = try second.tidy()
        let bytes = faulty_disk_bytes_read() - before
        #expect(bytes < mostBytes)
        slices += 1
      }
      #expect(slices > 5 && second.store?.recentCount == 0)
      let before = try contents(table)
      second.close()
      #expect(try contents(try #require(try rebooted(name, from: directory, .init(capacityBytes: 24 << 20)))) == before)
    }
  }
}

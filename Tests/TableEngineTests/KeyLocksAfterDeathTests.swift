import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A barrier of keys keeps what it finds without a pin (G7). A writer that died may have left the copy of an entry that it was moving: readers
/// find that until it is undone, and then its block is used for something else.
@Suite struct KeyLocksAfterDeathTests {
  /// Leaves a barrier that its process did not end.
  private func leaveUnfinished(_ table: Table) throws {
    let writer = try worker(table)
    try writer.ask("barrier", expecting: "in")
    try writer.ask("fill k 400", expecting: "ok")
    try writer.killAndWait()
  }

  private func isUndone(_ table: Table) -> Bool {
    guard let participant = table.segment.participant else { return false }
    return TableExclusion(participant: participant).isOpen
  }

  @Test(arguments: [false, true])
  func whatADeadWriterLeftIsUndoneBeforeKeysAreLocked(isWaiting: Bool) throws {
    try withSmallTable(.rcu) { table in
      try table.set("k0", "old")
      try leaveUnfinished(table)
      #expect(!isUndone(table))
      let queue = try BarrierQueue(in: table, label: "test.keys")
      // The asynchronous one locks them only if it needs no waiting.
      let wasUndone =
        isWaiting
        ? try table.barrier(keys: ["k0"]) { _ in self.isUndone(table) }
        : try queue.async(keys: ["k0"]) { _ in self.isUndone(table) }.wait()
      #expect(wasUndone)
      #expect(try table.get("k0") == "old")
      #expect(try table.check() == [])
    }
  }
}

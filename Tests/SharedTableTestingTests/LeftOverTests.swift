import Glibc
import SharedMemory
import SharedTable
import TestSupport
import Testing

@testable import SharedTableTesting

/// What processes that died have left is removed; nobody else's is.
@Suite struct LeftOverTests {
  /// The name that a process would give a table.
  private func name(pid: Int32, start: UInt64, namespace: UInt64? = nil) throws -> String {
    "swift-testing.\(try namespace ?? ProcessIdentity.pidNamespace()).\(pid).\(start).1.test"
  }

  @Test func aLivingProcessKeepsItsTables() throws {
    let own = TemporaryTableName.next(label: "orders of\n/tomorrow", test: "aTest(_:)")
    #expect(own.hasSuffix(".ordersoftomorrow.aTest"))
    #expect(!TemporaryTableName.isLeftOver(own))
    let parent = getppid()
    #expect(!TemporaryTableName.isLeftOver(try name(pid: parent, start: ProcessIdentity.startTime(of: parent))))
  }

  @Test func aDeadProcessDoesNot() throws {
    let ended = try WorkerProcess.run("/bin/sh", ["-c", "echo $$"], timeoutSeconds: 60)
    let pid = try #require(Int32(ended.output.trimmingPrefix(" ").prefix { $0.isNumber }))
    #expect(TemporaryTableName.isLeftOver(try name(pid: pid, start: 1)))
    // Nor one whose number another has by now.
    #expect(TemporaryTableName.isLeftOver(try name(pid: getpid(), start: ProcessIdentity.startTime(of: getpid()) + 1)))
  }

  @Test func namesOfOthersAreLeftAlone() throws {
    for other in ["settings", "swift-testing", "swift-testing.orders", "swift-testing.1.2.3", "swift-testing.a.b.c.d"] {
      #expect(!TemporaryTableName.isLeftOver(other))
    }
    let foreign = try ProcessIdentity.pidNamespace() + 1
    #expect(!TemporaryTableName.isLeftOver(try name(pid: .max, start: 1, namespace: foreign)))
    #expect(!TemporaryTableName.isLeftOver(try name(pid: -1, start: 1)))
  }

  /// Where /proc says of neither process which namespace it is in, their numbers may be of two.
  @Test func withoutANamespaceNothingIsLeftOver() throws {
    let ended = try WorkerProcess.run("/bin/sh", ["-c", "echo $$"], timeoutSeconds: 60)
    let pid = try #require(Int32(ended.output.prefix { $0.isNumber }))
    #expect(!TemporaryTableName.isLeftOver(try name(pid: pid, start: 1, namespace: 0), in: nil))
    #expect(TemporaryTableName.isLeftOver(try name(pid: pid, start: 1, namespace: 7), in: 7))
  }

  /// A run that was killed in its test, and the one after it.
  @Test func theNextRunRemovesWhatAKilledOneLeft() async throws {
    await #expect(processExitsWith: .success) {
      // This process is the next run: it has removed nothing yet.
      let ended = try WorkerProcess.run("/bin/sh", ["-c", "echo $$"], timeoutSeconds: 60)
      let dead = ended.output.prefix { $0.isNumber }
      let namespace = try ProcessIdentity.pidNamespace()
      let (left, kept) = (
        "swift-testing.\(namespace).\(dead).1.1.left", "swift-testing.\(namespace).\(getppid()).0.1.kept"
      )
      for name in [left, kept] { _ = try Table.create(name, Table.Options(capacityBytes: 4 << 20)) }
      TemporaryTableName.removeLeftOvers
      let names = try Table.names()
      try Table.drop(kept)
      exit(names.contains(left) ? 1 : names.contains(kept) ? 0 : 2)
    }
  }
}

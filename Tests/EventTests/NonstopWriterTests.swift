import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Who looks or reads on beside a writer that never pauses: whenever it has looked, there is one commit more.
@Suite(.timeLimit(.minutes(20))) struct NonstopWriterTests {
  /// The writer commits so often, once in each look.
  private static let commits = 300

  /// The wait of the first task is over each time at once. The second one is a job of the same actor, behind the first.
  @MainActor @Test(arguments: Table.Variant.allCases)
  func updatesLetOtherJobsOfTheirActorRun(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table in
      let writer = try worker(table)
      try writer.ask("set n 1", expecting: "ok")
      let looks = Atomic(0)
      // The clock is asked at the end of each look.
      let reader = try Table.open(table.name, access: .participant) {
        if looks.add(1, ordering: .relaxed).newValue <= Self.commits { _ = try? writer.ask("set other x") }
        return 1_000_000_000_000
      }
      let reading = Task { @MainActor in for try await _ in reader.updates(forKey: "n", as: String.self) {} }
      let other = Task { @MainActor in looks.load(ordering: .relaxed) }
      #expect(await other.value < Self.commits)
      reading.cancel()
      try await reading.value
      try writer.finish()
    }
  }

  @MainActor @Test(arguments: Table.Variant.allCases)
  func waitUntilLetsOtherJobsOfItsActorRun(_ variant: Table.Variant) async throws {
    try await withTable(variant) { table in
      let writer = try worker(table)
      let looks = Atomic(0)
      let waiting = Task { @MainActor in
        try await table.waitUntil("n", as: String.self, timeout: .seconds(600)) { _ in
          if looks.add(1, ordering: .relaxed).newValue <= Self.commits {
            try writer.ask("set other x", expecting: "ok")
          }
          return false
        }
      }
      let other = Task { @MainActor in looks.load(ordering: .relaxed) }
      #expect(await other.value < Self.commits)
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      try writer.finish()
    }
  }

  /// What comes while a reader of the log looks for changes that it wants is for its next call.
  @Test func aReaderOfTheLogLooksThroughWhatWasCommittedBefore() throws {
    try withSmallTable(.rcu) { table in
      let start = table.version
      for number in 0..<1000 { try table.set("other", number) }
      let before = table.version
      for number in 0..<5000 { try table.set("other", number) }
      try table.set("wanted", 1)
      var feed = ChangeFeed(table, after: start, .prefix(Array("wanted".utf8)))
      guard case .again = try feed.next(upTo: before) else {
        Issue.record("it reads on")
        return
      }
      #expect(feed.version >= before && feed.version < table.version)
      guard case .change(let change) = try feed.next(upTo: table.version) else {
        Issue.record("it does not find what is there")
        return
      }
      #expect(change.keyText == "wanted")
    }
  }
}

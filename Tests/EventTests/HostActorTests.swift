import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Whoever follows a table in a host actor over it: each of its jobs is a barrier, and so a version.
@Suite struct HostActorTests {
  private actor Follower: HostActor {
    nonisolated let hostExecutor: HostExecutor
    private let sum: HostState<Int>

    init(_ table: Table) throws {
      hostExecutor = HostExecutor(in: table)
      sum = try HostState("sum", in: hostExecutor, default: 0)
    }

    /// Counts the changes of a key after a version, by a handle of the same table.
    func follow(_ key: String, of table: Table, after version: UInt64, _ told: Counter) async throws {
      for try await _ in table.changes(after: version, forKey: key) {
        try sum += 1
        told.increment()
      }
    }

    /// Counts the values of a key that are there.
    func followValue(of key: String, of table: Table, _ told: Counter) async throws {
      for try await value in table.updates(forKey: key, as: Int.self) where value != nil {
        try sum += 1
        told.increment()
      }
    }

    func wait(for value: Int, of key: String, of table: Table) async throws {
      try await table.waitUntil(key, as: Int.self) { $0 == value }
    }
  }

  /// Whether there comes a moment in which nobody commits anything.
  private func comesToRest(_ table: Table) async -> Bool {
    await comesTrue {
      let version = table.version
      return await doesNotComeTrue(for: .milliseconds(100)) { table.version != version }
    }
  }

  private func check(
    _ variant: Table.Variant, _ access: Table.Access,
    _ follow: @escaping @Sendable (Follower, Table, Counter) async throws -> Void
  ) async throws {
    try await withTable(variant) { table in
      let (follower, told) = (try Follower(table), Counter())
      let handle = try Table.open(table.name, access: access)
      let following = Task { try await follow(follower, handle, told) }
      for change in 1...3 {
        try await table.set("key", change)
        try #require(await comesTrue(within: .seconds(600)) { told.value >= change })
        #expect(told.value == change)
        #expect(await comesToRest(table))
      }
      following.cancel()
      try await following.value
      #expect(try table.get("sum") == 3)
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func whoFollowsChangesMakesNoVersionWhileThereAreNone(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await check(variant, access) { follower, table, told in
      try await follower.follow("key", of: table, after: 0, told)
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func whoFollowsAValueMakesNoVersionWhileItStays(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await check(variant, access) { follower, table, told in
      try await follower.followValue(of: "key", of: table, told)
    }
  }

  @Test(arguments: Table.Variant.allCases, [Table.Access.participant, .observer])
  func aJobCannotWaitForAValue(_ variant: Table.Variant, _ access: Table.Access) async throws {
    try await withTable(variant) { table in
      let follower = try Follower(table)
      let handle = try Table.open(table.name, access: access)
      let failure = await error { try await follower.wait(for: 1, of: "key", of: handle) }
      #expect(failure?.code == .wouldDeadlock)
    }
  }
}

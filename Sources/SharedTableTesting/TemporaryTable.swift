public import SharedTable
public import Testing

/// A trait that gives each test a table of its own, which has a name, so that other processes can open it, and is removed
/// afterwards.
///
/// ```swift
/// @Test(.temporaryTable()) func aWorkerSeesTheGreeting() throws {
///   let table = try Table.ofTest
///   try table.set("greeting", "hello")
///   #expect(try output(of: "worker", arguments: [table.name]) == "hello")
/// }
/// ```
/// Of a suite, each test has the trait; of a test with arguments, each case has a table.
///
/// The table is removed when the test has ended, whether it threw or not; who has it open then gets `unlinked` from the next
/// write. If the test's process is killed or crashes, the table stays in /dev/shm until the next process that runs a test with
/// this trait: that one removes first what dead processes of the same user and PID namespace have left.
public struct TemporaryTable: TestTrait, SuiteTrait, TestScoping {
  let label: String
  let options: Table.Options
  let timeout: Duration

  @TaskLocal static var tables: [String: Table] = [:]

  /// For the tests of a suite, one by one.
  public var isRecursive: Bool { true }

  /// For Swift Testing.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    TemporaryTableName.removeLeftOvers
    let name = TemporaryTableName.next(label: label, test: test.name)
    let table = try Table.create(name, options, timeout: timeout)
    defer { remove(name) }
    var tables = Self.tables
    tables[label] = table
    try await Self.$tables.withValue(tables) { try await function() }
  }

  private func remove(_ name: String) {
    do throws(TableError) {
      try Table.drop(name)
    } catch {
      // The test may have dropped it itself.
      if error.code != .noSuchTable { Issue.record(error, "The test's table stays in /dev/shm.") }
    }
  }
}

extension Trait where Self == TemporaryTable {
  /// Gives the test a table that other processes can open by its name, and removes it afterwards: see ``TemporaryTable``.
  ///
  /// What making it throws (`full`, `notPermitted`) fails the test.
  /// - Parameters:
  ///   - label: tells several tables of one test apart: `Table.ofTest("orders")`. Letters, digits and `_` of it are in the name.
  ///   - options: capacity, variant and policies; nil = 16 MiB, of which an empty table takes 2.
  ///   - timeout: what a wait of the test's own handle lasts at most where the call does not say.
  public static func temporaryTable(
    _ label: String = "", _ options: Table.Options? = nil, timeout: Duration = Table.defaultTimeout
  ) -> Self {
    Self(label: label, options: options ?? Table.Options(capacityBytes: 16 << 20), timeout: timeout)
  }
}

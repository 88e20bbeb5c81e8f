public import SharedTable
import TestSupport
import Testing

/// Runs `body` with a new table of a test's own; its invariants are checked afterwards.
public func withTable(
  _ variant: Table.Variant, capacityBytes: Int = 16 << 20, clock: TestClock? = nil, _ body: (Table) throws -> Void
) throws {
  try withTableName { (name: String) throws -> Void in
    let table = try create(name, variant, capacityBytes, clock?.read)
    try body(table)
    #expect(try table.check() == [])
  }
}

public func withTable(
  _ variant: Table.Variant, isolation: isolated (any Actor)? = #isolation, _ body: (Table) async throws -> Void
) async throws {
  try await awaitTable(variant, 16 << 20, nil, body)
}

/// A small table: its change log is soon overrun.
public func withSmallTable(_ variant: Table.Variant, _ body: (Table) throws -> Void) throws {
  try withTable(variant, capacityBytes: 4 << 20, body)
}

public func withSmallTable(
  _ variant: Table.Variant, clock: (@Sendable () -> UInt64)? = nil, isolation: isolated (any Actor)? = #isolation,
  _ body: (Table) async throws -> Void
) async throws {
  try await awaitTable(variant, 4 << 20, clock, body)
}

/// A table in which each block that becomes free is overwritten: who reads it later finds nonsense.
/// - Parameter poisons: false for one of which nothing is, where blocks become free by a shorter way.
public func withPoisonedTable(
  _ options: Table.Options, _ poisons: Bool = true, _ body: (String, Table) throws -> Void
) throws {
  try withTableName { (name: String) throws -> Void in
    var options = options
    options.poisonsFreedBlocks = poisons
    try body(name, try Table.create(name, options))
  }
}

private func awaitTable(
  _ variant: Table.Variant, _ capacityBytes: Int, _ clock: (@Sendable () -> UInt64)?,
  isolation: isolated (any Actor)? = #isolation, _ body: (Table) async throws -> Void
) async throws {
  try await withTableName { (name: String) async throws -> Void in
    let table = try create(name, variant, capacityBytes, clock)
    try await body(table)
    #expect(try table.check() == [])
  }
}

/// With the patience that a sanitizer's machine needs.
private func create(
  _ name: String, _ variant: Table.Variant, _ capacityBytes: Int, _ clock: (@Sendable () -> UInt64)?
) throws -> Table {
  try Table.create(
    name, .init(variant: variant, capacityBytes: capacityBytes), timeout: .seconds(600), clock: clock)
}

/// A clock that stands still until the test moves it.
public final class TestClock: @unchecked Sendable {
  // Sendable because one thread at a time uses it.
  public var now: UInt64 = 1_000_000_000_000

  public init() {}

  public func advance(_ seconds: UInt64) { now += seconds * 1_000_000_000 }

  /// For a table to read.
  public var read: @Sendable () -> UInt64 { { self.now } }
}

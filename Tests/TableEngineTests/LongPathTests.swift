import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// Keys with more slashes than a section can lock: who writes one asks for the steps that may be locked, and for no others.
@Suite struct LongPathTests {
  private static let deepest = String(repeating: "/a", count: 4_000)

  private func set(writing key: String) -> LockedKeys {
    Array(key.utf8).withUnsafeBytes { LockedKeys(writing: $0, seed: 1) }
  }

  @Test func noMoreStepsAreHashedThanCanBeLocked() {
    #expect(set(writing: "a/b/c").count == 3)
    #expect(set(writing: Self.deepest).count == 1 + LockedKeys.capacity)
    let key = Array(Self.deepest.utf8)
    #expect(key.withUnsafeBytes { LockedKeys(locking: $0, seed: 1) }.count == 1 + LockedKeys.capacity)
    #expect(LockedKeys(locking: [key], seed: 1).count > LockedKeys.capacity)
  }

  @Test(arguments: Table.Variant.allCases) func theDeepestKeyThatCanBeLockedKeepsAllBelowIt(
    _ variant: Table.Variant
  ) throws {
    try withSmallTable(variant) { table throws in
      let holder = try worker(table)
      // A key and the steps on its path take all of a slot.
      let locked = "k" + String(repeating: "/a", count: LockedKeys.capacity - 1)
      try holder.ask("keyed \(locked)/a", expecting: "error \(TableError.Code.invalid.rawValue)")
      try holder.ask("keyed \(locked)", expecting: "in")
      let below = locked + Self.deepest
      #expect(code { try table.set(below, 1, timeout: .milliseconds(20)) } == .timedOut)
      try table.set("other" + Self.deepest, 1)
      try holder.ask("commit", expecting: "ok")
      try table.set(below, 1)
      try holder.finish()
    }
  }
}

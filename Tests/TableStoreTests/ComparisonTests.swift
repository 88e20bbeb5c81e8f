import CSQLite
import SharedTable
import TestSupport
import Testing

@testable import TableStore

/// How a store is compared with its table.
@Suite struct ComparisonTests {
  /// The rows that are brought into their places are read one after the other, however long they are.
  @Test func aComparisonDoesNotHoldAllRowsInMemory() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 256 << 20))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        for number in 0..<128 {
          try table.set("\(number)", [UInt8](repeating: UInt8(number), count: 1 << 20))
          try follower.sync()
        }
        follower.mustCompare = true
        let before = sqlite3_memory_used()
        _ = sqlite3_memory_highwater(1)
        try follower.sync()
        #expect(follower.takeEvents().last == .compared)
        // SQLite has caches, also those of tests that run beside this one: sixteen megabytes each.
        #expect(sqlite3_memory_highwater(0) - before < 80 << 20)
        follower.close()
      }
    }
  }
}

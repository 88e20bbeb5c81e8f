import SharedTable
import TestSupport
import Testing

@testable import TableStore

/// A store beside writers that commit as fast as its keeper reads.
@Suite struct ConstantChangeTests {
  /// The keeper does nothing else meanwhile: it stores nothing, says nothing, and does not hear that it is to stop.
  @Test func theLogIsReadAsFarAsTheTableWas() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 64 << 20))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        for number in 0..<1000 { try table.set("first", number) }
        let goal = table.version
        // More than one look at the log reads, as if they were committed meanwhile.
        for number in 0..<9000 { try table.set("later", number) }
        #expect(try follower.collect(upTo: goal))
        #expect(follower.covered >= goal && follower.covered < table.version)
        #expect(follower.pending[Array("first".utf8)] == goal)
        try follower.sync()
        #expect(follower.takeEvents() == [.newFile])
        #expect(table.durableVersion == table.version)
        try expectAReboot(bringsBack: table, closing: follower, from: directory)
      }
    }
  }

  /// The log may be overwritten faster than it is read, each time again: it is enough to know that the store must be compared.
  @Test func anOverrunEndsTheReadingOfTheLog() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        for number in 0..<20_000 { try table.set("key", number) }
        #expect(try follower.collect())
        #expect(follower.mustCompare && follower.covered < table.version)
        try follower.sync()
        #expect(follower.takeEvents() == [.newFile, .compared])
        #expect(table.durableVersion == table.version)
        follower.close()
      }
    }
  }
}

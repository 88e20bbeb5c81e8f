import SharedTable
import TableEngine
import TestSupport
import Testing

@testable import TableStore

/// One keeper stores a table and says what is durable, wherever others would store it.
@Suite struct KeeperLockTests {
  /// What only one of two files holds would be durable, and a power cut may bring back the other.
  @Test func aSecondKeeperStoresNothingInAnotherDirectoryEither() throws {
    try withTableName { name in
      try withDirectory { directory in
        try withDirectory { other in
          let table = try Table.create(name, .init(capacityBytes: 4 << 20))
          var first = StoreLoop(table, directory)
          _ = first.step(.relaxed(.seconds(3600)))
          try table.set("a", 1)
          let durable = table.durableVersion
          var second = StoreLoop(table, other)
          _ = second.step(.everyBarrier)
          #expect(second.status.error?.code == .inUse)
          #expect(second.status.error?.message.contains("take the table's 'durability' out of one daemon's") == true)
          #expect(table.durableVersion == durable && durable < table.version)
          #expect(table.segment.keeping == .kept)
          #expect(names(in: other.path) == [])
          // When the first has ended the other may begin.
          first.close()
          #expect(second.finish() == .none)
          #expect(second.status.error == nil && table.durableVersion == table.version)
          second.close()
        }
      }
    }
  }

  /// Who cannot store it says so of a table that nobody else stores, and not of another's.
  @Test func aKeeperThatFailsIsTheKeeperAllTheSame() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        var first = StoreLoop(table, StoreDirectory(directory.path + "/missing/stores"))
        _ = first.step(.everyBarrier)
        #expect(first.status.error?.code == .readOnly)
        #expect(table.segment.keeping == .failed)
        #expect(storeError { try Follower(table, in: directory) }?.code == .inUse)
        table.noteNotStored()
        #expect(table.segment.keeping == .failed)
        first.close()
        table.noteNotStored()
        #expect(table.segment.keeping == .none)
      }
    }
  }

  /// A daemon that has the table without durability, beside the one that stores it.
  @Test func whoDoesNotStoreATableLeavesWhatItsKeeperSays() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        table.noteNotStored()
        #expect(table.segment.keeping == .kept)
        follower.close()
        table.noteNotStored()
        #expect(table.segment.keeping == .none)
      }
    }
  }

  /// The last sync comes after a table has lost its name.
  @Test func aTableWithoutItsNameCanBeKept() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try table.set("a", 1)
        removeObjects(ofTable: name)
        let follower = try Follower(table, in: directory)
        try follower.sync()
        #expect(table.durableVersion == table.version)
        #expect(storeError { try Follower(table, in: directory) }?.code == .inUse)
        follower.close()
      }
    }
  }
}

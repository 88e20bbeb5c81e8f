import CSQLite
import Glibc
import SharedTable
import TableEngine
import TableStore
import TableTestSupport
import TestSupport
import Testing

/// A store beside a living table.
@Suite struct FollowerTests {
  @Test func afterAnOverrunTheStoreIsComparedWithTheTable() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let follower = try Follower(table, in: directory)
        for index in 0..<2000 { try table.set("key \(index)", index) }
        try follower.sync()
        #expect(follower.takeEvents() == [.newFile])
        // More than the log holds: the first of these are told of no more.
        for index in 0..<1000 { try table.remove("key \(index)") }
        for index in 1000..<1100 { try table.set("key \(index)", -1) }
        for index in 0..<20_000 { try table.set("last", index) }
        try follower.sync()
        #expect(follower.takeEvents() == [.compared])
        try table.set("after", 1)
        try follower.sync()
        #expect(follower.takeEvents() == [])
        try expectAReboot(bringsBack: table, closing: follower, from: directory)
      }
    }
  }

  /// Keys that came and went while nothing could be stored take no more memory than the table has.
  @Test func aComparisonTakesThePlaceOfMoreKeysThanTheTableHasRoomFor() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        #expect(follower.takeEvents() == [.newFile])
        let long = String(repeating: "k", count: 4000)
        for number in 0..<6000 {
          try table.set("\(number) \(long)", number)
          try table.remove("\(number - 1) \(long)")
          if number % 10 == 0 { try follower.collect() }
        }
        try follower.sync()
        #expect(follower.takeEvents() == [.compared])
        try expectAReboot(bringsBack: table, closing: follower, from: directory)
      }
    }
  }

  @Test func aKeeperStartedAnewGoesOnByTheLog() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let first = try Follower(table, in: directory)
        try table.set("a", 1)
        try first.sync()
        first.close()
        try table.set("b", 2)
        let second = try Follower(table, in: directory)
        try second.sync()
        #expect(second.takeEvents() == [])
        try expectAReboot(bringsBack: table, closing: second, from: directory)
      }
    }
  }

  /// What a repair gave up does not come back with the next reboot.
  @Test func afterARepairTheStoreIsTheTable() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        for index in 0..<100 { try table.set("key \(index)", index) }
        let follower = try Follower(table, in: directory)
        try follower.sync()
        try table.loseWords()
        #expect(try table.repair().droppedCount == 1)
        try follower.sync()
        let before = try contents(table)
        #expect(before.count == 99)
        follower.close()
        #expect(try contents(try #require(try rebooted(name, from: directory))) == before)
      }
    }
  }

  /// Somebody removes a store's files, or moves them away, beside the daemon: what is stored from then on would be nowhere.
  @Test(arguments: ["removed", "moved", "replaced"]) func aStoreThatIsTakenAwayIsWrittenAnew(_ what: String) throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try table.set("a", 1)
        let follower = try Follower(table, in: directory)
        try follower.sync()
        let file = "\(directory.path)/\(name).1.sqlite"
        switch what {
        case "removed": for suffix in ["", "-wal"] { unlink(file + suffix) }
        case "moved": rename(file, directory.path + "/kept")
        default:
          close(open(directory.path + "/other", O_CREAT | O_WRONLY, 0o600))
          rename(directory.path + "/other", file)
        }
        try table.set("b", 2)
        try follower.sync()
        #expect(follower.takeEvents() == [.newFile, .newFile])
        #expect(table.durableVersion == table.version)
        try expectAReboot(bringsBack: table, closing: follower, from: directory)
      }
    }
  }

  /// SQLite leaves the log of a file that was moved, and would take it for that of the file that lies there now.
  @Test(arguments: [false, true]) func aBackupInAStoresPlaceIsNotMixedWithItsLog(isOfTheSameKeeper: Bool) throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 16 << 20))
        func set(_ value: Int, sync: () throws -> Void) throws {
          for index in 0..<100 {
            try table.set("key \(index)", [UInt8](repeating: UInt8(value), count: 5000))
            try sync()
          }
        }
        let first = try Follower(table, in: directory)
        try first.sync()
        try set(1) {}
        try first.sync()
        first.close()
        let file = "\(directory.path)/\(name).1.sqlite"
        for backup in ["backup", "another"] { try runSQL("VACUUM INTO '\(directory.path)/\(backup)'", on: file) }
        if isOfTheSameKeeper { unlink(file) }
        let second = try Follower(table, in: directory)
        try second.sync()
        for backup in ["backup", "another"] {
          // More than SQLite keeps in its log: what is there in the end builds on pages that the backup does not have.
          for value in 2...12 { try set(value) { try second.sync() } }
          rename(directory.path + "/" + backup, file)
          try table.set("after", backup)
          try second.sync()
        }
        #expect(second.takeEvents() == (isOfTheSameKeeper ? [.newFile] : []) + [.compared, .compared])
        #expect(table.durableVersion == table.version)
        try expectAReboot(bringsBack: table, closing: second, from: directory)
      }
    }
  }

  /// A comparison that finds nothing different might write nothing, and what somebody copied there may not be on the disk yet.
  @Test func aBackupThatIsTheTableIsProvedAllTheSame() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try table.set("a", 1)
        let first = try Follower(table, in: directory)
        try first.sync()
        first.close()
        let file = "\(directory.path)/\(name).1.sqlite"
        try runSQL("VACUUM INTO '\(directory.path)/backup'", on: file)
        let second = try Follower(table, in: directory)
        try second.sync()
        rename(directory.path + "/backup", file)
        try second.sync()
        #expect(second.takeEvents() == [.compared])
        second.close()
        #expect(try runSQL("SELECT value FROM meta WHERE name = 'proofs'", on: file) == ["1"])
      }
    }
  }

  @Test func theStoreOfAnotherTableIsLeftAsItIs() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try table.set("a", 1)
        let follower = try Follower(table, in: directory)
        try follower.sync()
        follower.close()
        removeObjects(ofTable: name)
        let other = try Table.create(name, .init(capacityBytes: 4 << 20))
        #expect(storeError { try Follower(other, in: directory) }?.code == .otherTable)
        #expect(try rebooted(name, from: directory)?.get("a", as: Int.self) == 1)
      }
    }
  }

  @Test func aChangedByteIsDamageAndNotAValue() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try table.set("a", String(repeating: "x", count: 600))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        try table.set("b", String(repeating: "y", count: 600))
        try follower.sync()
        follower.close()
        let file = "\(directory.path)/\(names(in: directory.path)[0])"
        for letter in ["x", "y"] {
          let place = try find(letter, in: file)
          try write("z", at: place, in: file)
          let error = storeError { try rebooted(name, from: directory) }
          #expect(error?.code == .damaged)
          #expect(error?.description.contains("move it away") == true)
          let tables = try Table.names()
          #expect(!tables.contains(name))
          try write(letter, at: place, in: file)
        }
        #expect(try rebooted(name, from: directory)?.count == 2)
      }
    }
  }

  /// No bytes of a file end the daemon.
  @Test(arguments: ["-1", "9223372036854775807", "0"]) func rowsOfImpossibleNumbersAreDamage(_ number: String) throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        try table.set("a", 1)
        try follower.sync()
        follower.close()
        try runSQL("UPDATE recent SET seq = \(number)", on: "\(directory.path)/\(name).1.sqlite")
        #expect(storeError { try rebooted(name, from: directory) }?.code == .damaged)
      }
    }
  }

  /// The table in memory is whole, and the file says that it is this table's.
  @Test func aFileThatIsDamagedBesideItsTableIsWrittenAnew() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let first = try Follower(table, in: directory)
        try first.sync()
        try table.set("a", 1)
        try first.sync()
        first.close()
        try runSQL("UPDATE recent SET seq = -1", on: "\(directory.path)/\(name).1.sqlite")
        let second = try Follower(table, in: directory)
        #expect(table.segment.keeping == .broken)
        try second.sync()
        #expect(second.takeEvents() == [.newFile])
        #expect(table.segment.keeping == .kept)
        second.close()
        #expect(names(in: directory.path) == ["\(name).2.sqlite"])
        #expect(try rebooted(name, from: directory)?.get("a", as: Int.self) == 1)
      }
    }
  }

  /// It may be another table's, so it is left; what to do about it is said as it is beside a table.
  @Test func aFileThatDoesNotSayWhoseItIsIsLeftAsItIs() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let first = try Follower(table, in: directory)
        try first.sync()
        first.close()
        try runSQL("DELETE FROM meta WHERE name = 'uuid-high'", on: "\(directory.path)/\(name).1.sqlite")
        let error = storeError { try Follower(table, in: directory) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("writes the table to a new file, from memory") == true, "\(error!)")
        #expect(names(in: directory.path).filter { $0.hasSuffix(".sqlite") } == ["\(name).1.sqlite"])
      }
    }
  }

  @Test func afterADamagedRowIsMetByFoldingANewFileIsWritten() throws {
    try withTableName { name in
      try withDirectory { directory in
        // As many rows of `recent` as there must be for folding, told by the log in one piece.
        let table = try Table.create(name, .init(capacityBytes: 64 << 20))
        let count = 4200
        let first = try Follower(table, in: directory)
        for value in 1...2 {
          try table.barrier { transaction in for index in 0..<count { try transaction.set("\(index)", value) } }
          try first.sync()
        }
        first.close()
        try runSQL("UPDATE recent SET version = version - 1 WHERE seq = 2000", on: "\(directory.path)/\(name).1.sqlite")
        let second = try Follower(table, in: directory)
        try second.sync()
        let error = storeError { while try second.tidy() {} }
        #expect(error?.code == .damaged)
        #expect(table.segment.keeping == .broken)
        try second.sync()
        #expect(second.takeEvents() == [.newFile])
        #expect(table.segment.keeping == .kept)
        let before = try contents(table)
        second.close()
        #expect(names(in: directory.path) == ["\(name).2.sqlite"])
        #expect(try contents(try #require(try rebooted(name, from: directory))) == before)
      }
    }
  }

  @Test func aLaterFormatAndAStrangersFileAreRefused() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        follower.close()
        let file = "\(directory.path)/\(name).1.sqlite"
        try runSQL("PRAGMA user_version=2", on: file)
        #expect(storeError { try Follower(table, in: directory) }?.code == .newerFormat)
        try runSQL("PRAGMA application_id=7", on: file)
        #expect(storeError { try Follower(table, in: directory) }?.code == .notAStore)
      }
    }
  }

  /// Somebody keeps a copy beside a store, by a name that looks as if it were the next file.
  @Test func aCopyOfEarlierTakesNoStoresPlace() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        func store(_ value: Int) throws {
          try table.set("a", value)
          let follower = try Follower(table, in: directory)
          try follower.sync()
          follower.close()
        }
        try store(1)
        let file = "\(directory.path)/\(name).1.sqlite"
        let copy = "\(directory.path)/\(name).20261127.sqlite"
        try runSQL("VACUUM INTO '\(copy).new'", on: file)
        try store(2)
        rename(copy + ".new", copy)
        for error in [
          storeError { try Follower(table, in: directory) }, storeError { try rebooted(name, from: directory) },
        ] {
          #expect(error?.code == .older)
          #expect(error?.description.contains("move it away") == true, "\(error?.description ?? "no error")")
        }
        unlink(copy)
        #expect(try rebooted(name, from: directory)?.get("a", as: Int.self) == 2)
      }
    }
  }

  /// What cannot be looked at may be newer, or something else: it is not removed for the file of a higher number.
  @Test(arguments: [StoreError.Code.inUse, .newerFormat, .notAStore])
  func anEarlierFileThatCannotBeReadIsNotRemoved(_ code: StoreError.Code) throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try table.set("a", 1)
        let follower = try Follower(table, in: directory)
        try follower.sync()
        follower.close()
        let (file, copy) = ("\(directory.path)/\(name).1.sqlite", "\(directory.path)/\(name).2.sqlite")
        try runSQL("VACUUM INTO '\(copy)'", on: file)
        var user: OpaquePointer?
        defer { sqlite3_close(user) }
        switch code {
        case .newerFormat: try runSQL("PRAGMA user_version=2", on: file)
        case .notAStore: try runSQL("PRAGMA application_id=7", on: file)
        default:
          #expect(sqlite3_open(file, &user) == SQLITE_OK)
          #expect(sqlite3_exec(user, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        }
        #expect(storeError { try Follower(table, in: directory) }?.code == code)
        #expect(
          names(in: directory.path).filter { $0.hasSuffix(".sqlite") } == ["\(name).1.sqlite", "\(name).2.sqlite"])
      }
    }
  }

  /// It was left beside this table's store when that was opened, and is left also when that is written anew.
  @Test func anotherTablesFileIsNotRemovedForANewFileEither() throws {
    try withTableName { name in
      try withDirectory { directory in
        func store(_ table: Table) throws {
          let follower = try Follower(table, in: directory)
          try follower.sync()
          follower.close()
        }
        let file = "\(directory.path)/\(name).1.sqlite"
        try store(try Table.create(name, .init(capacityBytes: 4 << 20)))
        removeObjects(ofTable: name)
        rename(file, directory.path + "/other")
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try store(table)
        rename(file, "\(directory.path)/\(name).2.sqlite")
        rename(directory.path + "/other", file)
        // A sync of its file has failed.
        try table.segment.setKeeping(.broken)
        try store(table)
        #expect(
          names(in: directory.path).filter { $0.hasSuffix(".sqlite") } == ["\(name).1.sqlite", "\(name).3.sqlite"])
      }
    }
  }

  @Test func twoKeepersDoNotShareAStore() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        #expect(storeError { try Follower(table, in: directory) }?.code == .inUse)
        follower.close()
      }
    }
  }

  /// A transaction that changes no byte might write nothing, and prove nothing.
  @Test func eachKeeperChangesTheFileBeforeItCallsItDurable() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        var counts: [String] = []
        for _ in 0..<3 {
          let follower = try Follower(table, in: directory)
          try follower.sync()
          follower.close()
          let file = "\(directory.path)/\(name).1.sqlite"
          counts += try runSQL("SELECT value FROM meta WHERE name = 'proofs'", on: file)
        }
        #expect(counts == ["1", "2"])
      }
    }
  }

  @Test func theFileCanBeLookedAt() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let follower = try Follower(table, in: directory)
        try table.set("a", "old")
        try follower.sync()
        try table.set("a", "text")
        try table.set("b", 1)
        try table.remove("b")
        try follower.sync()
        follower.close()
        #expect(
          try runSQL("SELECT key || ' ' || type || ' ' || value FROM entries", on: "\(directory.path)/\(name).1.sqlite")
            == ["a string text"])
      }
    }
  }

  /// Where in a file a letter stands 500 times.
  private func find(_ letter: String, in path: String) throws -> Int {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
    pread(descriptor, &bytes, bytes.count, 0)
    let run = [UInt8](repeating: letter.utf8.first!, count: 500)
    guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: run) }) else {
      throw StoreFailure("no \(letter) in \(path)")
    }
    return place
  }

  private func write(_ letter: String, at place: Int, in path: String) throws {
    let descriptor = open(path, O_WRONLY)
    defer { close(descriptor) }
    guard pwrite(descriptor, Array(letter.utf8), 1, off_t(place)) == 1 else {
      throw StoreFailure("pwrite: error \(errno)")
    }
  }
}

import Glibc
import SharedTable
import TableEngine
import TableStore
import TableTestSupport
import TestSupport
import Testing

/// A table that comes back.
@Suite struct RestoreTests {
  @Test(arguments: Table.Variant.allCases)
  func aTableComesBackWithValuesTypesVersionsAndExpiry(_ variant: Table.Variant) throws {
    try withTableName { name in
      try withDirectory { directory in
        let options = Table.Options(variant: variant, capacityBytes: 16 << 20)
        let table = try Table.create(name, options)
        try table.set("text", "hello")
        try table.set("number", 42)
        try table.set("real", 1.5)
        try table.set("flag", true)
        try table.set("bytes", [UInt8](repeating: 7, count: 100_000))
        try table.set("empty", [UInt8]())
        try table.set("session", "s", expires: .after(.seconds(3600)))
        try table.set("gone", "x")
        let follower = try Follower(table, in: directory)
        try follower.sync()
        try table.remove("gone")
        try table.set("text", "again")
        try follower.sync()
        #expect(table.durableVersion == table.version)
        let before = try contents(table)
        let version = table.version
        follower.close()
        let back = try #require(try rebooted(name, from: directory, options))
        let after = try contents(back)
        #expect(after == before)
        #expect(back.version > version)
        #expect(back.version >> 40 == version >> 40 + 1)
        #expect(back.durableVersion == back.version)
        #expect(try back.check() == [])
        // What is stored then goes into the same store.
        let next = try Follower(back, in: directory)
        try back.set("text", "third")
        try next.sync()
        next.close()
        let third = try #require(try rebooted(name, from: directory, options))
        #expect(try third.get("text", as: String.self) == "third")
        #expect(third.version > back.version)
      }
    }
  }

  /// A mirror's table that comes back as one of its own: a later mirror must not take for the other store's what was written meanwhile.
  @Test func whatAMirrorSaidOfItselfIsForgottenByATableOfItsOwn() throws {
    try withTableName { name in
      try withDirectory { directory in
        var options = Table.Options(capacityBytes: 16 << 20)
        options.features = [.mirror]
        let mirror = try Table.create(name, options)
        var status = UpstreamStatus(.following, address: "etcd://db:2379/app/")
        status.revision = 100
        let text = status.text
        try mirror.mirrorBarrier { tx throws(TableError) in
          for (key, value) in [(Table.Upstream.key, text), ("a", "theirs")] {
            try unsafe key.withKeyBytes { key throws(TableError) in
              try unsafe value.withKeyBytes { value throws(TableError) in try unsafe tx.put(key, value, .string) }
            }
          }
        }
        func store(_ table: Table) throws {
          let follower = try Follower(table, in: directory)
          try follower.sync()
          follower.close()
        }
        try store(mirror)
        let back = try #require(try rebooted(name, from: directory, options))
        #expect(try back.upstream.status()?.revision == 100)
        let own = try #require(try rebooted(name, from: directory))
        #expect(try !own.contains(Table.Upstream.key))
        try own.set("a", "ours")
        // What only looks so is a value as any.
        try own.set(Table.Upstream.key, "mine")
        try store(own)
        #expect(try #require(try rebooted(name, from: directory)).get(Table.Upstream.key, as: String.self) == "mine")
      }
    }
  }

  /// A dump of a mirror, loaded into a table of one's own, has its status: what was written since is not the other store's.
  @Test func whatATableOfItsOwnSaysOfAStoreIsNoMirrorsStatus() throws {
    try withTableName { name in
      try withDirectory { directory in
        let own = try Table.create(name, .init(capacityBytes: 16 << 20))
        var status = UpstreamStatus(.following, address: "etcd://db:2379/app/")
        status.revision = 100
        try own.set(Table.Upstream.key, status.text)
        try own.set("a", "ours")
        let follower = try Follower(own, in: directory)
        try follower.sync()
        follower.close()
        var options = Table.Options(capacityBytes: 16 << 20)
        options.features = [.mirror]
        let mirror = try #require(try rebooted(name, from: directory, options))
        // So it reads all of the other store before it says anything.
        #expect(try mirror.upstream.status() == nil)
        #expect(try mirror.get("a", as: String.self) == "ours")
        // Nor where nothing was stored before the next reboot.
        #expect(try #require(try rebooted(name, from: directory, options)).upstream.status() == nil)
      }
    }
  }

  /// The clock that nobody sets began anew with the host: what it said before tells nothing, also where it is behind that by chance.
  @Test(arguments: [-1_000_000_000_000, 1_000_000_000_000])
  func theAgeOfAMirrorThatComesBackIsTheCalendars(_ uptimeBefore: Int64) throws {
    try withTableName { name in
      try withDirectory { directory in
        var options = Table.Options(capacityBytes: 16 << 20)
        options.features = [.mirror]
        let mirror = try Table.create(name, options)
        var status = UpstreamStatus(.following, address: "etcd://db:2379/app/")
        let now = UpstreamStatus.Moment.now
        status.revision = 100
        // The calendar is behind now.
        status.asOf = now.realtime + 3_600_000_000_000
        status.asOfMonotonic = UInt64(max(1, Int64(now.monotonic) + uptimeBefore))
        let text = status.text
        try mirror.mirrorBarrier { tx throws(TableError) in
          try unsafe Table.Upstream.key.withKeyBytes { key throws(TableError) in
            try unsafe text.withKeyBytes { value throws(TableError) in try unsafe tx.put(key, value, .string) }
          }
        }
        let follower = try Follower(mirror, in: directory)
        try follower.sync()
        follower.close()
        let back = try #require(try rebooted(name, from: directory, options))
        let found = try #require(try back.upstream.status())
        #expect(found.revision == 100 && found.asOf == status.asOf)
        // Its store need not be compared.
        #expect(back.durableVersion == back.version)
        #expect(!found.isAsNew(as: .now))
        #expect(found.lag == nil)
        #expect(found.lag(now: status.asOf + 5, monotonic: 1) == .nanoseconds(5))
      }
    }
  }

  /// While it is loaded the index grows in most transactions, and what that supersedes is freed in between.
  @Test(arguments: Table.Variant.allCases) func aTableOfManyKeysComesBack(_ variant: Table.Variant) throws {
    try withTableName { name in
      try withDirectory { directory in
        let options = Table.Options(variant: variant, capacityBytes: 16 << 20)
        let table = try Table.create(name, options)
        let count = 20_000
        for start in stride(from: 0, to: count, by: 1_000) {
          try table.barrier { tx in for index in start..<start + 1_000 { try tx.set("key \(index)", index) } }
        }
        let follower = try Follower(table, in: directory)
        try follower.sync()
        follower.close()
        let back = try #require(try rebooted(name, from: directory, options))
        #expect(back.count == count)
        #expect(try (0..<count).allSatisfy { try back.get("key \($0)") == $0 })
        #expect(try back.check() == [])
      }
    }
  }

  /// What its keys were before is in the store, too: together it is more than fits.
  @Test(arguments: Table.Variant.allCases)
  func aTableComesBackWhateverItsKeysWereBefore(_ variant: Table.Variant) throws {
    try withTableName { name in
      try withDirectory { directory in
        let options = Table.Options(variant: variant, capacityBytes: 16 << 20)
        let table = try Table.create(name, options)
        let follower = try Follower(table, in: directory)
        for number in 0..<20 {
          // One key is written over, and another comes in the place of the one before.
          try table.set("same", [UInt8](repeating: UInt8(number), count: 1 << 20))
          try table.remove("\(number - 1)")
          try table.set("\(number)", [UInt8](repeating: UInt8(number), count: 3 << 20))
          try follower.sync()
        }
        follower.close()
        let before = try contents(table)
        let back = try #require(try rebooted(name, from: directory, options))
        #expect(try contents(back) == before)
        #expect(try back.check() == [])
      }
    }
  }

  @Test func whatHasExpiredIsLeftOut() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try table.set("old", "value")
        try table.set("kept", "value")
        let follower = try Follower(table, in: directory)
        try follower.sync()
        // By the time it is restored this has passed.
        try table.set("old", "later", expires: .at(nanosecondsSince1970: 1))
        try follower.sync()
        follower.close()
        let back = try #require(try rebooted(name, from: directory))
        #expect(try back.read { try $0.keys() } == [Array("kept".utf8)])
        #expect(try back.check() == [])
      }
    }
  }

  /// Else it would be there again where the clock is behind, and the store would grow with each reboot.
  @Test func whatHasExpiredLeavesTheStoreToo() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let past = Expiration.at(nanosecondsSince1970: 1)
        for key in ["a", "b", "c"] { try table.set(key, "old", expires: past) }
        for key in ["d", "e"] { try table.set(key, "old") }
        let follower = try Follower(table, in: directory)
        try follower.sync()
        // Newer rows: one that lives, one that has gone, and one that has expired.
        try table.set("b", "lives")
        try table.remove("c")
        try table.set("e", "new", expires: past)
        try follower.sync()
        follower.close()
        let file = "\(directory.path)/\(names(in: directory.path)[0])"
        for _ in 1...2 {
          let back = try #require(try rebooted(name, from: directory))
          #expect(try contents(back).keys.sorted() == ["b", "d"])
          #expect(try runSQL("SELECT key FROM entries ORDER BY key", on: file) == ["b", "d"])
        }
        // What is stored from then on follows.
        let back = try #require(try rebooted(name, from: directory))
        let next = try Follower(back, in: directory)
        try next.sync()
        try back.set("a", "again")
        try next.sync()
        #expect(next.takeEvents() == [])
        next.close()
        #expect(try contents(try #require(try rebooted(name, from: directory))).keys.sorted() == ["a", "b", "d"])
      }
    }
  }

  @Test func whoResumesFromAVersionBeforeTheRebootIsToldThatItMissedSomething() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try table.set("a", 1)
        let seen = table.version
        let follower = try Follower(table, in: directory)
        try follower.sync()
        follower.close()
        let back = try #require(try rebooted(name, from: directory))
        var cursor = ChangeCursor(after: seen)
        #expect(try back.segment.readChanges(&cursor).missed > 0)
        var present = ChangeCursor(after: back.version)
        #expect(try back.segment.readChanges(&present).missed == 0)
        let mayBeLost = [seen, back.version].map { back.segment.mayHaveLostChanges(of: Array("any".utf8), after: $0) }
        #expect(mayBeLost == [true, false])
      }
    }
  }

  @Test func aFoldedStoreIsTheSameTable() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 16 << 20))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        var random = SplitMix(seed: 15)
        for round in 0..<60 {
          try table.barrier { transaction in
            for _ in 0..<200 {
              let key = "key:\(Int.random(in: 0..<3000, using: &random))"
              if Int.random(in: 0..<5, using: &random) == 0 {
                try transaction.remove(key)
              } else {
                try transaction.set(key, round)
              }
            }
          }
          try follower.sync()
        }
        // Some slices, then new changes, then the others: what came later wins.
        for _ in 0..<3 { #expect(try follower.tidy()) }
        try table.set("key:1", "late")
        try table.remove("key:2")
        try follower.sync()
        while try follower.tidy() {}
        let before = try contents(table)
        follower.close()
        let back = try #require(try rebooted(name, from: directory))
        #expect(try contents(back) == before)
      }
    }
  }

  /// Few keys of long values are folded for their bytes: the file does not grow with all that they ever were.
  @Test func aStoreOfLongValuesStaysInBounds() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 8 << 20))
        let follower = try Follower(table, in: directory)
        try follower.sync()
        var slices = 0
        for number in 0..<96 {
          try table.set("\(number % 3)", [UInt8](repeating: UInt8(number), count: 1 << 20))
          try follower.sync()
          while try follower.tidy() { slices += 1 }
        }
        follower.close()
        let file = "\(directory.path)/\(names(in: directory.path)[0])"
        let pages = Int(try runSQL("PRAGMA page_count", on: file)[0])!
        #expect(pages * 4096 < 40 << 20)
        // A megabyte a row, and no slice has more than a few of them.
        #expect(slices > 20)
        let before = try contents(table)
        #expect(try contents(try #require(try rebooted(name, from: directory))) == before)
      }
    }
  }

  /// Stores a table and restores it.
  /// - Parameter isWhole: whether the table that has come back holds what it should.
  /// - Returns: how often the restore has asked whether it goes on.
  private func signsOfLife(
    restoring table: Table, _ options: Table.Options, in directory: StoreDirectory, isWhole: (Table) -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Int {
    let follower = try Follower(table, in: directory)
    try follower.sync()
    follower.close()
    removeObjects(ofTable: table.name)
    var beats = 0
    let back = try Table.restore(table.name, options, from: directory) {
      beats += 1
      return true
    }
    #expect(back.map(isWhole) == true, sourceLocation: sourceLocation)
    return beats
  }

  /// The watchdog waits for signs of life by time, and a row of a megabyte takes as long as thousands of short ones.
  @Test func longRowsGiveSignsOfLifeToo() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 128 << 20))
        for index in 0..<40 { try table.set("\(index)", [UInt8](repeating: 1, count: 1 << 20)) }
        let beats = try signsOfLife(restoring: table, .init(capacityBytes: 128 << 20), in: directory) { $0.count == 40 }
        #expect(beats >= 4)
      }
    }
  }

  /// They are removed from the store once all is read.
  @Test func expiredRowsGiveSignsOfLifeToo() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 16 << 20))
        let past = Expiration.at(nanosecondsSince1970: 1)
        for begin in stride(from: 0, to: 10_000, by: 1000) {
          try table.barrier { tx in for index in begin..<(begin + 1000) { try tx.set("\(index)", 1, expires: past) } }
        }
        let beats = try signsOfLife(restoring: table, .init(capacityBytes: 16 << 20), in: directory) { $0.count == 0 }
        // Two for the rows that are read, and two for those that are written.
        #expect(beats == 4)
      }
    }
  }

  /// A daemon that is to stop does not wait for the rest, and the next one begins anew.
  @Test func aRestoringThatIsEndedLeavesNothingAndTheStoreAsItWas() throws {
    try withTableName { name in
      try withDirectory { directory in
        let options = Table.Options(capacityBytes: 16 << 20)
        let table = try Table.create(name, options)
        for begin in stride(from: 0, to: 20_000, by: 1000) {
          try table.barrier { tx in for index in begin..<(begin + 1000) { try tx.set("key \(index)", index) } }
        }
        let follower = try Follower(table, in: directory)
        try follower.sync()
        follower.close()
        let before = try contents(table)
        removeObjects(ofTable: name)
        var count = 0
        let error = storeError {
          _ = try Table.restore(name, options, from: directory) {
            count += 1
            return count < 3
          }
        }
        #expect(error?.tableError?.errno == ECANCELED && count == 3)
        for part in ["ctl", "data"] { #expect(access("/dev/shm/shmtable.\(name).\(part)", F_OK) != 0) }
        #expect(try contents(try #require(try Table.restore(name, options, from: directory))) == before)
      }
    }
  }

  @Test func aTableWithoutAStoreIsNotMade() throws {
    try withTableName { name in
      try withDirectory { directory in
        #expect(try Table.restore(name, from: directory) == nil)
        let names = try Table.names()
        #expect(!names.contains(name))
      }
    }
  }

  @Test func aStoreTooLargeForTheTableIsSaidAndNothingIsMade() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 16 << 20))
        for index in 0..<40 { try table.set("\(index)", [UInt8](repeating: 1, count: 100_000)) }
        let follower = try Follower(table, in: directory)
        try follower.sync()
        follower.close()
        let error = storeError { try rebooted(name, from: directory, .init(capacityBytes: 2 << 20)) }
        #expect(error?.tableError?.code == .full)
        let names = try Table.names()
        #expect(!names.contains(name))
        #expect(try rebooted(name, from: directory)?.count == 40)
      }
    }
  }
}

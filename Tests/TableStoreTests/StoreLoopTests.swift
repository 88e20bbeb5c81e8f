import Glibc
import SharedMemory
import SharedTable
import TestSupport
import Testing

@testable import TableStore

/// What a keeper's thread does in one step after the other.
@Suite struct StoreLoopTests {
  /// A writer that never rests: each step finds something to store.
  @Test func aStoreIsFoldedUnderConstantChange() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 16 << 20))
        var loop = StoreLoop(table, directory)
        let count = 1000
        for number in 0..<80 {
          try table.barrier { tx in for index in 0..<count { try tx.set("\(index)", number) } }
          _ = loop.step(.everyBarrier)
          #expect(table.durableVersion == table.version)
        }
        loop.close()
        let file = "\(directory.path)/\(name).1.sqlite"
        let rows = Int(try runSQL("SELECT count(*) FROM recent", on: file)[0])!
        #expect(rows < 20 * count)
        let before = try contents(table)
        #expect(try contents(try #require(try rebooted(name, from: directory))) == before)
      }
    }
  }
  /// The disk may not answer for any time: what waits for it is said before.
  @Test func whatWaitsIsSaidBeforeTheDiskIsAsked() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name)
        var loop = StoreLoop(table, directory)
        var waited: [Bool] = []
        for _ in 0..<2 {
          try table.set("a", 1)
          for _ in 0..<2 {
            _ = loop.step(.everyBarrier) { if $0.busySince == nil { waited.append($0.waitingSince != nil) } }
          }
        }
        // Once more before the file is looked for.
        #expect(waited == [true, true, false, true, false])
        loop.close()
      }
    }
  }

  /// Nobody waits for the folding of a store, but what is committed meanwhile waits for its end.
  @Test func thatAStoreIsTidiedIsSaidBeforeTheDiskIsAsked() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name)
        try table.set("a", 1)
        var loop = StoreLoop(table, directory)
        for _ in 0..<2 {
          var last = StoreStatus()
          _ = loop.step(.everyBarrier) { last = $0 }
          #expect(last.busySince != nil && last.waitingSince == nil)
          #expect(loop.status.busySince == nil)
        }
        loop.close()
      }
    }
  }

  @Test func whatIsCommittedWhileTheDiskHangsIsLate() {
    var status = StoreStatus()
    #expect(status.busy == .zero)
    status.busySince = HostClock.monotonicNanoseconds - 30_000_000_000
    #expect(status.busy >= .seconds(30) && status.lag == .zero)
    (status.durable, status.version) = (1, 2)
    #expect(status.lag >= .seconds(30) && status.overdue >= .seconds(30))
  }

  /// Also when it is asked first: for its directory, and for the file that may be there.
  @Test func thatAStoreIsWaitedForIsSaidBeforeTheDiskIsAskedForIt() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name)
        var loop = StoreLoop(table, StoreDirectory(directory.path + "/stores"))
        var first: (isWaiting: Bool, files: [String])?
        _ = loop.step(.everyBarrier) { status in
          if first == nil { first = (status.waitingSince != nil, names(in: directory.path)) }
        }
        #expect(first?.isWaiting == true && first?.files == [])
        loop.close()
      }
    }
  }

  /// Else nothing of the table would be on the disk until the interval is over.
  @Test func aFileThatIsTakenAwayIsWrittenAnewBeforeTheNextSyncIsDue() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name)
        try table.set("a", 1)
        var loop = StoreLoop(table, directory)
        let mode = StoreMode.relaxed(.seconds(3600))
        _ = loop.step(mode)
        try table.set("a", 2)
        for suffix in ["", "-wal"] { unlink("\(directory.path)/\(name).1.sqlite\(suffix)") }
        _ = loop.step(mode)
        #expect(table.durableVersion == table.version)
        #expect(names(in: directory.path).contains("\(name).1.sqlite"))
        loop.close()
      }
    }
  }

  @Test func whatIsNotDueYetIsNotOverdue() {
    var status = StoreStatus()
    #expect(status.lag == .zero && status.overdue == .zero)
    status.waitingSince = HostClock.monotonicNanoseconds - 30_000_000_000
    #expect(status.lag >= .seconds(30) && status.overdue >= .seconds(30))
    status.interval = .seconds(20)
    #expect(status.overdue >= .seconds(10) && status.overdue <= status.lag - .seconds(20))
    status.interval = .seconds(60 * 60)
    #expect(status.lag >= .seconds(30) && status.overdue == .zero)
  }

  /// Not where the store is all that is left, or never was this table's.
  @Test func aTableWaitsForItsLastSyncOnlyWhereItHasWhatTheStoreLacks() {
    var status = StoreStatus()
    (status.durable, status.version) = (1, 2)
    #expect(status.obstacleToRestoring == nil)
    for (code, isObstacle) in [(StoreError.Code.noSpace, true), (.inUse, true), (.otherTable, false)] {
      status.error = StoreError(code, "path", "why")
      #expect((status.obstacleToRestoring != nil) == isObstacle, "\(code)")
    }
    status.error = StoreError(TableError(.damaged, table: "orders", "why"), "path")
    #expect(status.obstacleToRestoring == nil)
    // What was durable may be so no more: the file was removed, or its sync has failed.
    status.durable = 2
    for code in [StoreError.Code.noSpace, .inputOutput, .damaged, .readOnly] {
      status.error = StoreError(code, "path", "why")
      #expect(status.obstacleToRestoring?.code == code)
    }
    status.error = nil
    #expect(status.obstacleToRestoring == nil)
  }

  /// However long the interval and however short the host is up: whether the disk takes a store is known at the start.
  @Test func aStoreIsMadeAtOnce() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name)
        try table.set("a", 1)
        var loop = StoreLoop(table, directory)
        let mode = StoreMode.relaxed(.seconds(100 * 365 * 86_400))
        _ = loop.step(mode)
        #expect(table.durableVersion == table.version)
        try table.set("b", 2)
        _ = loop.step(mode)
        #expect(table.durableVersion < table.version)
        loop.close()
      }
    }
  }
}

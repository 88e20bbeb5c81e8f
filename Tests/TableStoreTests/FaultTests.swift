import CFaultyDisk
import Glibc
import SharedTable
import TableEngine
import TableTestSupport
import TestSupport
import Testing

@testable import TableStore

/// How much is tried: a little in `make unit`; more where the environment asks for it (`make store-faults-bounded`, `store-faults`).
enum Length {
  private static let asked = getenv("STORE_FAULTS").map { String(cString: $0) }
  private static let isLong = asked == "long"
  static let seeds = isLong ? 3 : asked == "bounded" ? 2 : 1
  static let copies: Int32 = isLong ? 2 : 1
  static let barriers = isLong ? 60 : asked == "bounded" ? 32 : 24
  /// Every so manieth operation of the disk.
  static let stride = isLong ? 1 : asked == "bounded" ? 3 : 5
}

/// What a disk that fails, fills up or loses power leaves of a store. One after the other: the disk is the process's.
@Suite(.serialized) struct FaultTests {
  /// A table, and a directory on a disk that works until a plan says otherwise.
  func withTableAndDisk(
    capacityBytes: Int = 4 << 20, _ body: (String, Table, StoreDirectory) throws -> Void
  ) throws {
    faulty_disk_register()
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: capacityBytes))
        faulty_disk_plan(FAULTY_DISK_NONE, 0)
        try body(name, table, directory)
      }
    }
  }

  /// The table at each version, and which of them were said to be durable after how many operations of the disk.
  struct History {
    var states: [UInt64: [String: Int]] = [:]
    var durable: [(operations: UInt64, version: UInt64)] = []

    /// What had been said to be durable before an operation.
    func promised(at operation: UInt64) -> UInt64 { durable.last { $0.operations <= operation }?.version ?? 0 }
  }

  /// Random barriers with a store behind them.
  static func run(
    _ table: Table, _ directory: StoreDirectory, seed: UInt64, barriers: Int, keys: Int = 12, tidies: Bool = true
  ) throws -> History {
    var history = History()
    var random = SplitMix(seed: seed)
    var state: [String: Int] = [:]
    let follower = try Follower(table, in: directory, disk: "faulty")
    for number in 1...barriers {
      let keys = (0..<Int.random(in: 1...6, using: &random)).map { _ in "k\(Int.random(in: 0..<keys, using: &random))" }
      let version = try table.barrier { transaction in
        for key in keys {
          if Int.random(in: 0..<4, using: &random) == 0 {
            try transaction.remove(key)
            state[key] = nil
          } else {
            try transaction.set(key, number)
            state[key] = number
          }
        }
        return table.segment.versionInBarrier
      }
      history.states[version] = state
      if Int.random(in: 0..<2, using: &random) == 0 { try follower.sync() }
      if tidies { _ = try follower.tidy() }
      history.durable.append((faulty_disk_operations(), table.durableVersion))
    }
    follower.close()
    return history
  }

  static func integers(_ table: Table) throws -> [String: Int] {
    try contents(table).mapValues { $0.bytes.withUnsafeBytes { $0.load(as: Int.self) } }
  }

  @Test(arguments: (1...Length.seeds).map { UInt64($0) })
  func aPowerCutLosesNothingDurableAndLeavesWholeBarriers(_ seed: UInt64) throws {
    faulty_disk_register()
    try withTableName { name in
      try withDirectory { directory in
        try withDirectory { cuts in
          faulty_disk_plan(FAULTY_DISK_NONE, 0)
          faulty_disk_cut_power(cuts.path, Length.copies, seed)
          defer { faulty_disk_cut_power(nil, 0, 0) }
          let table = try Table.create(name, .init(capacityBytes: 4 << 20))
          let history = try Self.run(table, directory, seed: seed, barriers: Length.barriers)
          let copies = names(in: cuts.path)
          #expect(copies.count > 50)
          for copy in copies {
            let operation = UInt64(copy.split(separator: ".")[0])!
            try check(name, StoreDirectory("\(cuts.path)/\(copy)"), history, promised: history.promised(at: operation))
          }
        }
      }
    }
  }

  /// What comes back is what the barrier left that was durable, or a later one: whole, and nothing else.
  private func check(
    _ name: String, _ directory: StoreDirectory, _ history: History, promised: UInt64
  ) throws {
    let back = try rebooted(name, from: directory)
    let found = try back.map { try Self.integers($0) } ?? [:]
    if let back { #expect(try back.check() == []) }
    let durable = history.states.keys.filter { $0 <= promised }.max() ?? 0
    let isKnown = found.isEmpty && durable == 0 || history.states.contains { $0.key >= durable && $0.value == found }
    #expect(isKnown, "\(directory.path): version \(durable) was durable, and no barrier from then on left \(found)")
  }

  @Test func aKeeperKilledAtAnyOperationLeavesWhatItSaid() throws {
    var at: UInt64 = 1
    var ended = false
    while !ended {
      try withTableName { name in
        try withDirectory { directory in
          let table = try Table.create(name, .init(capacityBytes: 4 << 20))
          let run = try WorkerProcess.run(
            "store-worker", [name, directory.path, "\(at)", "12"], timeoutSeconds: 60)
          let lines = run.output.split(separator: "\n")
          ended = run.exit == .code(0)
          #expect(run.exit == .code(0) || run.exit == .signal(SIGKILL), "\(run)")
          let said = lines.compactMap { Int($0) }.last ?? 0
          // A reboot: of the table in memory nothing is left.
          let back = try rebooted(name, from: directory)
          let (a, b) = (try back?.get("a", as: Int.self) ?? 0, try back?.get("b", as: Int.self) ?? 0)
          #expect(a == b && a >= said && a <= said + 1, "killed at \(at): \(a), \(b), said \(said)")
          let third = try back?.get("every third", as: Int.self)
          #expect(third == (a == 0 || a % 3 == 0 ? nil : a), "killed at \(at)")
          _ = table
        }
      }
      at += UInt64(Length.stride)
    }
    #expect(at > 20)
  }

  @Test func aKeeperKilledBesideALivingTableIsFollowedByAnother() throws {
    for at in stride(from: 3, to: 60, by: Length.stride * 4) {
      try withTableName { name in
        try withDirectory { directory in
          let table = try Table.create(name, .init(capacityBytes: 4 << 20))
          _ = try WorkerProcess.run("store-worker", [name, directory.path, "\(at)", "12"], timeoutSeconds: 60)
          let follower = try Follower(table, in: directory)
          try table.set("after", 1)
          try follower.sync()
          #expect(table.durableVersion == table.version)
          try expectAReboot(bringsBack: table, closing: follower, from: directory)
        }
      }
    }
  }

  /// The disk fails once, at each operation: another file is written, and what was said to be durable stays so.
  @Test(arguments: [FAULTY_DISK_FAIL, FAULTY_DISK_FULL])
  func aDiskThatFailsOrIsFullLosesNothingDurable(_ fault: faulty_disk_fault) throws {
    faulty_disk_register()
    for at in stride(from: 1, to: 70, by: Length.stride) {
      try withTableName { name in
        try withDirectory { directory in
          let table = try Table.create(name, .init(capacityBytes: 4 << 20))
          faulty_disk_plan(fault, UInt64(at))
          var follower: Follower?
          var errors: [StoreError.Code] = []
          for number in 1...12 {
            try table.barrier { transaction in
              try transaction.set("a", number)
              try transaction.set("b", number)
            }
            let error = storeError {
              let present = try follower ?? Follower(table, in: directory, disk: "faulty")
              follower = present
              try present.sync()
            }
            guard let error else {
              #expect(table.durableVersion == table.version)
              continue
            }
            errors.append(error.code)
            #expect(table.durableVersion < table.version)
            // There is room again. A disk that failed does so for the file of then.
            if fault == FAULTY_DISK_FULL { faulty_disk_plan(FAULTY_DISK_NONE, 0) }
          }
          #expect(
            Set(errors).isSubset(of: [fault == FAULTY_DISK_FULL ? .noSpace : .inputOutput]), "at \(at): \(errors)")
          #expect(table.durableVersion == table.version, "at \(at): \(errors)")
          follower?.close()
          faulty_disk_plan(FAULTY_DISK_NONE, 0)
          let back = try #require(try rebooted(name, from: directory))
          #expect(try back.get("a", as: Int.self) == 12 && back.get("b", as: Int.self) == 12, "at \(at)")
        }
      }
    }
  }

  /// What a killed keeper has written may be in the system's memory alone: the next one syncs it before it says that it is durable.
  @Test func whatAKilledKeeperDidNotSyncIsSyncedBeforeItIsCalledDurable() throws {
    faulty_disk_register()
    for at in stride(from: 3, to: 60, by: Length.stride) {
      try withTableName { name in
        try withDirectory { directory in
          let table = try Table.create(name, .init(capacityBytes: 4 << 20))
          _ = try WorkerProcess.run("store-worker", [name, directory.path, "\(at)", "12"], timeoutSeconds: 60)
          let durable = table.durableVersion
          faulty_disk_plan(FAULTY_DISK_FAIL, 1)
          _ = storeError { try Follower(table, in: directory, disk: "faulty").close() }
          #expect(table.durableVersion == durable, "killed at \(at)")
          faulty_disk_plan(FAULTY_DISK_NONE, 0)
        }
      }
    }
  }

  /// A file whose sync failed is not trusted by the next keeper either: the system takes what it could not write for written.
  @Test(arguments: 1...3 as ClosedRange<UInt64>) func theKeeperAfterOneWhoseSyncFailedWritesANewFile(at: UInt64) throws
  {
    try withTableAndDisk { name, table, directory in
      let first = try Follower(table, in: directory, disk: "faulty")
      try first.sync()
      try table.set("key", "last")
      faulty_disk_plan(FAULTY_DISK_FAIL, at)
      #expect(storeError { try first.sync() }?.code == .inputOutput)
      #expect(table.segment.keeping == .broken)
      first.close()
      faulty_disk_plan(FAULTY_DISK_NONE, 0)
      let durable = table.durableVersion
      let second = try Follower(table, in: directory, disk: "faulty")
      #expect(table.durableVersion == durable && durable < table.version)
      #expect(table.segment.keeping == .broken)
      try second.sync()
      #expect(second.takeEvents() == [.newFile])
      #expect(table.durableVersion == table.version)
      #expect(table.segment.keeping == .kept)
      second.close()
      #expect(try rebooted(name, from: directory)?.get("key", as: String.self) == "last")
    }
  }

  /// Also by way of the daemon's steps, and however it ends.
  @Test func aStepWhoseSyncFailedLeavesItNotedInTheTable() throws {
    try withTableAndDisk { name, table, directory in
      var loop = StoreLoop(table, directory, disk: "faulty")
      _ = loop.step(.everyBarrier)
      try table.set("key", "last")
      faulty_disk_plan(FAULTY_DISK_FAIL, 1)
      _ = loop.step(.everyBarrier)
      #expect(loop.status.error?.code == .inputOutput)
      #expect(table.segment.keeping == .broken)
      loop.close()
      table.noteNotStored()
      faulty_disk_plan(FAULTY_DISK_NONE, 0)
      var next = StoreLoop(table, directory, disk: "faulty")
      _ = next.step(.everyBarrier)
      #expect(names(in: directory.path).first == "\(name).2.sqlite")
      #expect(table.segment.keeping == .kept && table.durableVersion == table.version)
      next.close()
      #expect(try rebooted(name, from: directory)?.get("key", as: String.self) == "last")
    }
  }

  /// The new file takes the place of the broken one, and of no other table's.
  @Test func anotherTablesStoreIsLeftAloneAlsoAfterAFailedSync() throws {
    try withTableName { name in
      try withDirectory { directory in
        let other = try Table.create(name, .init(capacityBytes: 4 << 20))
        try other.set("key", "other")
        let first = try Follower(other, in: directory)
        try first.sync()
        first.close()
        removeObjects(ofTable: name)
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try table.segment.setKeeping(.broken)
        #expect(storeError { _ = try Follower(table, in: directory) }?.code == .otherTable)
        removeObjects(ofTable: name)
        #expect(try rebooted(name, from: directory)?.get("key", as: String.self) == "other")
      }
    }
  }

  /// The newer file is whole, and the table comes back from it.
  @Test func anEarlierFileThatTheDiskCannotReadHoldsUpNothing() throws {
    try withTableAndDisk { name, table, directory in
      try table.set("key", 1)
      let follower = try Follower(table, in: directory)
      try follower.sync()
      follower.close()
      let files = [1, 2].map { "\(directory.path)/\(name).\($0).sqlite" }
      try runSQL("VACUUM INTO '\(files[1])'", on: files[0])
      // So that opening the earlier file writes to it, which fails, and opening the newer one does not.
      try runSQL("PRAGMA journal_mode=WAL", on: files[1])
      try runSQL("PRAGMA journal_mode=DELETE", on: files[0])
      faulty_disk_plan(FAULTY_DISK_FAIL, 1)
      let store = try #require(try Store.open(name, in: directory, disk: "faulty"))
      #expect(store.generation == 2)
      store.close()
      #expect(faulty_disk_operations() > 0)
      faulty_disk_plan(FAULTY_DISK_NONE, 0)
      #expect(names(in: directory.path).contains("\(name).1.sqlite"))
    }
  }

  /// A daemon that stops has no later step that would write the new file.
  @Test func aDiskThatFailsAtTheLastSyncIsAskedForANewFile() throws {
    try withTableAndDisk { name, table, directory in
      var loop = StoreLoop(table, directory, disk: "faulty")
      _ = loop.step(.relaxed(.seconds(3600)))
      try table.set("key", "last")
      _ = loop.step(.relaxed(.seconds(3600)))
      #expect(table.durableVersion < table.version)
      faulty_disk_plan(FAULTY_DISK_FAIL, 1)
      #expect(loop.finish() != .none)
      #expect(loop.status.error?.code == .inputOutput)
      #expect(loop.finish() == .none)
      #expect(table.durableVersion == table.version)
      loop.close()
      #expect(try rebooted(name, from: directory)?.get("key", as: String.self) == "last")
    }
  }

  /// Folding needs room that storing may still have: nobody is told that the store has failed, and it is tried again.
  @Test func aFullDiskForFoldingIsNoFailureOfTheStore() throws {
    try withTableAndDisk(capacityBytes: 8 << 20) { name, table, directory in
      let follower = try Follower(table, in: directory, disk: "faulty")
      try follower.sync()
      for number in 0..<17 {
        try table.set("key", [UInt8](repeating: UInt8(number), count: 1 << 20))
        try follower.sync()
      }
      faulty_disk_plan(FAULTY_DISK_FULL, 1)
      while try follower.tidy() {}
      #expect(table.segment.keeping == .kept)
      faulty_disk_plan(FAULTY_DISK_NONE, 0)
      try table.set("key", "short")
      try follower.sync()
      var slices = 0
      while try follower.tidy() { slices += 1 }
      #expect(slices > 3)
      follower.close()
      #expect(try rebooted(name, from: directory)?.get("key", as: String.self) == "short")
    }
  }

  /// A store with folded rows, rows to come, keys that are gone, and some that have expired; closed as a killed keeper leaves it.
  private static func fill(_ table: Table, _ directory: StoreDirectory) throws -> [String: Int] {
    let history = try run(table, directory, seed: 4, barriers: 12)
    for index in 0..<3 { try table.set("past \(index)", index, expires: .at(nanosecondsSince1970: 1)) }
    let follower = try Follower(table, in: directory)
    try follower.sync()
    follower.close()
    return history.states[history.states.keys.max()!]!
  }

  /// The disk fails once, or is full from then on, at each operation of a restore: the next one finds what was there.
  @Test(arguments: [FAULTY_DISK_FAIL, FAULTY_DISK_FULL])
  func aRestoreThatFailsLosesNothing(_ fault: faulty_disk_fault) throws {
    faulty_disk_register()
    var failures = 0
    for at in 1...40 {
      try withTableName { name in
        try withDirectory { directory in
          let table = try Table.create(name, .init(capacityBytes: 4 << 20))
          let before = try Self.fill(table, directory)
          removeObjects(ofTable: name)
          faulty_disk_plan(fault, UInt64(at))
          let options = Table.Options(capacityBytes: 4 << 20)
          let error = storeError { _ = try Table.restore(name, options, from: directory, disk: "faulty") }
          faulty_disk_plan(FAULTY_DISK_NONE, 0)
          if error != nil {
            failures += 1
            // No table is in memory from which a file could be written.
            let words = fault == FAULTY_DISK_FULL ? "free some" : "restore it from a backup"
            #expect(error?.description.contains(words) == true, "\(error!)")
            let tables = try Table.names()
            #expect(!tables.contains(name), "at \(at)")
          }
          let back = try #require(try rebooted(name, from: directory), "at \(at)")
          #expect(try Self.integers(back) == before, "at \(at)")
        }
      }
    }
    #expect(failures > 1)
  }

  /// Else a large store would be read whole, and thrown away, each time that it is tried.
  @Test func aRestoreOnAFullDiskFailsBeforeTheFirstRow() throws {
    try withTableAndDisk { name, table, directory in
      for begin in stride(from: 0, to: 10_000, by: 1000) {
        try table.barrier { tx in for index in begin..<(begin + 1000) { try tx.set("key \(index)", index) } }
      }
      let follower = try Follower(table, in: directory)
      try follower.sync()
      follower.close()
      removeObjects(ofTable: name)
      let options = Table.Options(capacityBytes: 4 << 20)
      var beats = 0
      func restore() throws -> Table? {
        try Table.restore(name, options, from: directory, disk: "faulty") {
          beats += 1
          return true
        }
      }
      faulty_disk_plan(FAULTY_DISK_FULL, 1)
      let error = storeError { _ = try restore() }
      #expect(error?.code == .noSpace)
      #expect(
        error?.message.contains("a table comes back only where its store can be written") == true, "\(error as Any)")
      #expect(beats == 0)
      faulty_disk_plan(FAULTY_DISK_NONE, 0)
      #expect(try restore()?.count == 10_000)
      #expect(beats > 0)
    }
  }

  /// What an administrator copied there may be in the system's memory alone, and the restored table calls it durable. Closing the store
  /// syncs the file as well, but later, and nobody is told if that fails.
  @Test func aRestoredTableIsDurableOnlyIfItsFileWasSynced() throws {
    faulty_disk_register()
    var restored = 0
    for at in 1...40 {
      try withTableName { name in
        try withDirectory { directory in
          let table = try Table.create(name, .init(capacityBytes: 4 << 20))
          _ = try Self.fill(table, directory)
          removeObjects(ofTable: name)
          let file = "\(directory.path)/\(try #require(names(in: directory.path).first))"
          faulty_disk_plan(FAULTY_DISK_FAIL, UInt64(at))
          let options = Table.Options(capacityBytes: 4 << 20)
          let error = storeError { _ = try Table.restore(name, options, from: directory, disk: "faulty") }
          if error == nil {
            restored += 1
            #expect(faulty_disk_has_synced(file) != 0, "operation \(at) failed")
          }
          faulty_disk_plan(FAULTY_DISK_NONE, 0)
        }
      }
    }
    #expect(restored > 0)
  }

  /// Where the directory above cannot be synced, the next attempt makes the directory anew and syncs its name: it must not find it there.
  @Test func aDirectoryWhoseNameCannotBeSyncedIsNotLeftBehind() throws {
    try withDirectory { above in
      // Whoever may make names there, and not read it, cannot open it for the sync. Root gives up that right, for this thread alone.
      let nobody: UInt32 = 65_534
      #expect(chmod(above.path, 0o300) == 0)
      if geteuid() == 0 { #expect(chown(above.path, nobody, nobody) == 0) }
      let directory = StoreDirectory(above.path + "/stores")
      if geteuid() == 0 { setFileUser(nobody) }
      let error = storeError { try directory.prepare() }
      let isLeft = access(directory.path, F_OK) == 0
      if geteuid() == 0 { setFileUser(0) }
      #expect(error?.code == .readOnly)
      #expect(error?.message.contains("the directory above it cannot be synced: ") == true, "\(error as Any)")
      #expect(chmod(above.path, 0o700) == 0)
      #expect(!isLeft && access(directory.path, F_OK) != 0)
      try directory.prepare()
      #expect(access(directory.path, F_OK) == 0)
    }
  }

  @Test func aPowerCutInARestoreLosesNothing() throws {
    faulty_disk_register()
    try withTableName { name in
      try withDirectory { directory in
        try withDirectory { cuts in
          let table = try Table.create(name, .init(capacityBytes: 4 << 20))
          let before = try Self.fill(table, directory)
          removeObjects(ofTable: name)
          // The disk forgets what it knew of the files, and reads them.
          faulty_disk_plan(FAULTY_DISK_NONE, 0)
          faulty_disk_cut_power(cuts.path, Length.copies, 1)
          defer { faulty_disk_cut_power(nil, 0, 0) }
          let options = Table.Options(capacityBytes: 4 << 20)
          _ = try Table.restore(name, options, from: directory, disk: "faulty")
          let copies = names(in: cuts.path)
          #expect(copies.count > 3)
          for copy in copies {
            let back = try #require(try rebooted(name, from: StoreDirectory("\(cuts.path)/\(copy)")), "\(copy)")
            #expect(try Self.integers(back) == before, "\(copy)")
          }
        }
      }
    }
  }
}

/// setfsuid(2), which glibc's module leaves out: as whom this thread, and no other, opens files.
@_silgen_name("setfsuid") @discardableResult private func setFileUser(_ user: UInt32) -> Int32

import Glibc
import SharedMemory
import SharedTable
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// What lies under a name need not be a table: each case is an error that says what it is.
@Suite struct OpeningTests {
  static let ways: [Table.Access] = [.participant, .observer, .automatic]

  @Test func whatIsNotThereIsNoSuchTable() throws {
    try withTableName { (name: String) throws -> Void in
      for way in Self.ways { #expect(code { _ = try Table.open(name, access: way) } == .noSuchTable) }
      #expect(code { try Table.drop(name) } == .noSuchTable)
    }
  }

  @Test func aNameThatIsNoneIsInvalid() {
    let tooLong = String(repeating: "a", count: 201)
    for name in ["", "a/b", "../x", ".hidden", "a b", "a\0b", tooLong, "\u{e9}"] {
      #expect(code { _ = try Table.create(name) } == .invalid)
      #expect(code { _ = try Table.open(name) } == .invalid)
      #expect(code { try Table.drop(name) } == .invalid)
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatIsThereIsNotMadeAgain(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("k", 1)
      #expect(code { _ = try Table.create(table.name) } == .exists)
      #expect(try table.get("k") == 1)
    }
  }

  @Test func anotherVariantIsSaid() throws {
    try withTable(.rwlock) { table throws in
      #expect(code { _ = try Table.open(table.name, variant: .rcu) } == .incompatible)
      _ = try Table.open(table.name, variant: .rwlock)
    }
  }

  @Test func optionsOutOfRangeAreInvalidAndLeaveNothing() throws {
    try withTableName { (name: String) throws -> Void in
      for options in [
        Table.Options(capacityBytes: 0), .init(capacityBytes: -1), .init(capacityBytes: 1000),
        .init(capacityBytes: 1 << 50), .init(mode: 0o666), .init(mode: 0o400), .init(mode: 0o777),
      ] {
        #expect(code { _ = try Table.create(name, options) } == .invalid, "\(options)")
      }
      #expect(try SharedObject.list(prefix: "shmtable.\(name)").isEmpty)
    }
    for capacity in [.min, 0, 1000, .max] {
      #expect(code { _ = try Table.temporary(capacityBytes: capacity) } == .invalid)
    }
  }

  @Test func anObjectThatIsNotOursIsNotATable() throws {
    try withTableName { (name: String) throws -> Void in
      let zeros = [UInt8](repeating: 0, count: 10_000)
      let ones = [UInt8](repeating: 0xff, count: 10_000)
      for contents in [[], [UInt8]("hello\n".utf8), zeros, ones] {
        try write(contents, "\(name).data")
        try write(contents, "\(name).ctl")
        for way in Self.ways {
          #expect(code { _ = try Table.open(name, access: way) } == .notATable, "\(contents.count) bytes, \(way)")
        }
      }
      // Somebody's file of that name is neither overwritten nor removed.
      try write([UInt8](repeating: 0xff, count: 10_000), "\(name).ctl")
      #expect(code { _ = try Table.create(name) } == .exists)
      #expect(try SharedObject.open(name: "shmtable.\(name).ctl", writable: false).status().size == 10_000)
    }
  }

  @Test func aDirectoryOrFIFOIsNotATable() throws {
    try withTableName { (name: String) throws -> Void in
      for suffix in ["data", "ctl"] { mkdir("/dev/shm/shmtable.\(name).\(suffix)", 0o700) }
      for way in Self.ways { #expect(code { _ = try Table.open(name, access: way) } == .notATable) }
      #expect(code { _ = try Table.create(name) } == .exists)
      for suffix in ["data", "ctl"] { rmdir("/dev/shm/shmtable.\(name).\(suffix)") }
      for suffix in ["data", "ctl"] { mkfifo("/dev/shm/shmtable.\(name).\(suffix)", 0o600) }
      for way in Self.ways { #expect(code { _ = try Table.open(name, access: way) } == .notATable) }
      #expect(code { _ = try Table.create(name) } == .exists)
    }
  }

  @Test func aSymbolicLinkIsNotFollowed() throws {
    try withTable(.rcu) { table throws in
      try withTableName { (name: String) throws -> Void in
        for suffix in ["data", "ctl"] {
          symlink("/dev/shm/shmtable.\(table.name).\(suffix)", "/dev/shm/shmtable.\(name).\(suffix)")
        }
        for way in Self.ways { #expect(code { _ = try Table.open(name, access: way) } == .notATable) }
        #expect(code { _ = try Table.create(name) } == .exists)
      }
      try table.set("k", 1)
    }
  }

  @Test func aTableCutShortIsDamagedAndNeverASignal() throws {
    for way in Self.ways {
      try withTableName { (name: String) throws -> Void in
        _ = try Table.create(name, .init(capacityBytes: 4 << 20))
        let data = try SharedObject.open(name: "shmtable.\(name).data", writable: true)
        for size in [100_000, 16_384, 4096] {
          try data.truncate(to: size)
          let worker = try WorkerProcess("table-worker")
          try worker.ask("open \(name) \(way)", expecting: "error damaged")
        }
        try data.truncate(to: 4095)
        #expect(code { _ = try Table.open(name, access: .observer) } == .notATable)
      }
    }
  }

  @Test func anotherLayoutVersionOrFeatureIsIncompatible() throws {
    for (offset, value) in [
      (DataLayout.versionAndVariant, UInt64(DataLayout.version + 1) | 1 << 32), (DataLayout.layoutHash, 12345),
      (DataLayout.features, 1 << 63),
    ] {
      try withTableName { (name: String) throws -> Void in
        _ = try Table.create(name, .init(capacityBytes: 4 << 20))
        let objects = offset == DataLayout.features ? ["data"] : ["data", "ctl"]
        for object in objects { try store(value, at: offset, "\(name).\(object)") }
        for way in Self.ways {
          #expect(code { _ = try Table.open(name, access: way) } == .incompatible, "offset \(offset), \(way)")
        }
      }
    }
  }

  @Test func aVariantOrCapacityThatCannotBeIsDamaged() throws {
    for (offset, value) in [
      (DataLayout.versionAndVariant, UInt64(DataLayout.version) | 9 << 32), (DataLayout.capacity, 0),
      (DataLayout.capacity, .max), (DataLayout.capacity, 1 << 20 + 1),
    ] {
      try withTableName { (name: String) throws -> Void in
        _ = try Table.create(name, .init(capacityBytes: 4 << 20))
        for object in ["data", "ctl"] { try store(value, at: offset, "\(name).\(object)") }
        for way in Self.ways {
          #expect(code { _ = try Table.open(name, access: way) } == .damaged, "offset \(offset), \(way)")
        }
      }
    }
  }

  @Test func twoObjectsOfDifferentTablesAreNoTable() throws {
    try withTableName { (name: String) throws -> Void in
      try withTableName { (other: String) throws -> Void in
        _ = try Table.create(name, .init(capacityBytes: 4 << 20))
        _ = try Table.create(other, .init(capacityBytes: 4 << 20))
        rename("/dev/shm/shmtable.\(other).data", "/dev/shm/shmtable.\(name).data")
        #expect(code { _ = try Table.open(name, access: .participant) } == .damaged)
      }
    }
  }

  @Test func aHalfMadeTableIsNoneAndIsReplaced() throws {
    try withTableName { (name: String) throws -> Void in
      // A creator died before the ready flag.
      _ = try Table.create(name, .init(capacityBytes: 4 << 20))
      try store(0, at: ControlLayout.ready, "\(name).ctl")
      #expect(code { _ = try Table.open(name, access: .participant) } == .notATable)
      let table = try Table.create(name, .init(capacityBytes: 4 << 20))
      try table.set("k", 1)
      #expect(try Table.open(name, access: .observer).get("k") == 1)
      // One died before it had written anything.
      try Table.drop(name)
      _ = try SharedObject.create(name: "shmtable.\(name).ctl", mode: 0o600)
      #expect(code { _ = try Table.open(name, access: .participant) } == .notATable)
      try Table.create(name, .init(capacityBytes: 4 << 20)).set("k", 2)
    }
  }

  @Test func aCreatorBetweenMakingAndLockingIsWaitedFor() throws {
    try withTableName { (name: String) throws -> Void in
      let object = "shmtable.\(name).ctl"
      _ = try SharedObject.create(name: object, mode: 0o600)
      let opener = try WorkerProcess("table-worker")
      try opener.send("open \(name) participant")
      // It sleeps between two looks: it has seen the name with nothing behind it.
      try opener.waitUntilAsleep()
      // Made under another name first: the opener must not find none in between.
      try withTableName { (other: String) throws -> Void in
        try Table.create(other, .init(capacityBytes: 4 << 20)).set("k", "1")
        for suffix in ["data", "ctl"] {
          try #require(rename("/dev/shm/shmtable.\(other).\(suffix)", "/dev/shm/shmtable.\(name).\(suffix)") == 0)
        }
      }
      try opener.expectLine("ok")
      try opener.ask("get k", expecting: "1")
    }
  }

  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to become somebody else"))
  func withoutRightsItIsNotPermitted() throws {
    try withTable(.rcu) { table throws in
      let stranger = try WorkerProcess("table-worker")
      try stranger.ask("become 65534", expecting: "ok")
      for way in ["observer", "participant"] {
        try stranger.ask("open \(table.name) \(way)", expecting: "error notPermitted")
      }
      try stranger.ask("open-automatically \(table.name)", expecting: "error notPermitted")
    }
  }

  /// A umask may take even the owner's rights from what a process makes.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to become somebody else"))
  func aUmaskThatTakesAllRightsKeepsNobodyFromMakingATable() throws {
    try withTableName { name throws in
      let maker = try WorkerProcess("table-worker")
      try maker.ask("become 65534", expecting: "ok")
      try maker.ask("umask 777", expecting: "ok")
      try maker.ask("create-or-open \(name)", expecting: "created")
      try maker.ask("set k 1", expecting: "ok")
      try maker.ask("create-or-open \(name)", expecting: "opened")
      try maker.ask("drop \(name)", expecting: "ok")
    }
  }

  @Test func aDropDoesNotRemoveATableThatWasMadeWhileItWaited() throws {
    try withTableName { (name: String) throws -> Void in
      _ = try Table.create(name, .init(capacityBytes: 1 << 20))
      let control = try SharedObject.open(name: "shmtable.\(name).ctl", writable: true)
      try #require(try control.tryLock(.exclusive))
      let dropper = TestThread { code { try Table.drop(name) } }
      dropper.waitUntilAsleep()
      for suffix in ["data", "ctl"] { try SharedObject.unlink(name: "shmtable.\(name).\(suffix)") }
      let anew = try Table.create(name, .init(capacityBytes: 1 << 20))
      try control.unlock()
      #expect(try dropper.join() == .noSuchTable)
      #expect(anew.administration.isNamed)
    }
  }

  @Test func anImpossibleLimboBudgetLeavesNothingBehind() throws {
    try withTableName { (name: String) throws -> Void in
      #expect(code { _ = try Table.create(name, .init(capacityBytes: 1 << 20, limboBudgetBytes: -1)) } == .invalid)
      #expect(try SharedObject.list(prefix: "shmtable.\(name).") == [])
    }
  }

  @Test func anImpossibleLimboBudgetLeavesTheLimitsAsTheyAre() throws {
    let table = try Table.temporary()
    let before = try table.administration.limits()
    let impossible = Table.Limits(limboBudgetBytes: -1, stalledReaderPolicy: .wait)
    #expect(code { try table.administration.setLimits(impossible) } == .invalid)
    #expect(try table.administration.limits() == before)
  }

  @Test func aControlObjectThatEverybodyMayWriteIsNotTrusted() throws {
    try withTable(.rcu) { table throws in
      chmod("/dev/shm/shmtable.\(table.name).ctl", 0o666)
      #expect(code { _ = try Table.open(table.name, access: .participant) } == .notPermitted)
      #expect(try Table.open(table.name).isObserver)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aTableUnlinkedBehindUsIsNoticedAndReadable(
    _ variant: Table.Variant
  ) throws {
    try withTableName { (name: String) throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let other = try worker(table)
      // With this it has looked at the names' counts, and does not again for a moment.
      try other.ask("set k old", expecting: "ok")
      try Table.drop(name)
      let next = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      try next.set("k", "new")
      try other.ask("get k", expecting: "old")
      // Whoever drops a table marks it: no write goes where nobody looks.
      try other.ask("set k lost", expecting: "error unlinked")
      #expect(try next.get("k") == "new")
      try other.ask("open \(name)", expecting: "ok")
      try other.ask("get k", expecting: "new")
    }
  }

  @Test(arguments: Table.Variant.allCases) func namesThatAreRemovedByOtherMeansAreMissedInTheEnd(
    _ variant: Table.Variant
  ) throws {
    try withTableName { (name: String) throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      let other = try worker(table)
      removeObjects(ofTable: name)
      // The check is made from time to time: until then writes go where nobody looks.
      #expect(try eventually { try other.ask("set k lost") == "error unlinked" })
      #expect(eventually { error { try table.set("k", "lost") }?.code == .unlinked })
    }
  }

  @Test func manyProcessesThatCreateOneTableMakeOne() throws {
    for _ in 0..<20 {
      try withTableName { (name: String) throws -> Void in
        let workers = try (0..<4).map { _ in try WorkerProcess("table-worker") }
        for worker in workers { try worker.send("create-or-open \(name)") }
        let answers = try workers.map { try $0.readLine() }
        #expect(answers.filter { $0 == "created" }.count == 1, "\(answers)")
        #expect(answers.filter { $0 == "opened" }.count == 3, "\(answers)")
        for worker in workers { try worker.send("increment n 10") }
        for worker in workers { try worker.expectLine("ok") }
        #expect(try Table.open(name).get("n") == 40)
      }
    }
  }

  @Test func creatorsThatAreKilledLeaveNoNameBehindThatCannotBeTaken() throws {
    try withTableName { (name: String) throws -> Void in
      for round in 0..<40 {
        let creator = try WorkerProcess("table-worker")
        // It is up, and has looked at the name.
        try creator.ask("drop \(name)", expecting: "error noSuchTable")
        try creator.send("create-or-open \(name)")
        #expect(goOn(until: { (try? SharedObject.look(at: "shmtable.\(name).ctl")) != nil }) { sched_yield() })
        for _ in 0..<round { sched_yield() }
        creator.kill(SIGKILL)
        _ = try creator.wait()
        let worker = try WorkerProcess("table-worker")
        let answer = try worker.ask("create-or-open \(name)")
        #expect(answer == "created" || answer == "opened")
        try worker.ask("set k \(round)", expecting: "ok")
        try worker.ask("check", expecting: "ok")
        try Table.drop(name)
      }
    }
  }

  @Test func aCreatorThatIsKilledInTheMiddleLeavesNoNameBehindThatCannotBeTaken() throws {
    try withTableName { (name: String) throws -> Void in
      let creator = try WorkerProcess("table-worker")
      try creator.ask("create-half \(name)", expecting: "half")
      #expect(try SharedObject.list(prefix: "shmtable.\(name).").count == 2)
      #expect(code { try Table.create(name, .init(capacityBytes: 2 << 20)) } == .exists)
      try creator.killAndWait()
      let worker = try WorkerProcess("table-worker")
      try worker.ask("create-or-open \(name)", expecting: "created")
      try worker.ask("set k v", expecting: "ok")
      try worker.ask("check", expecting: "ok")
    }
  }

  private func write(_ bytes: [UInt8], _ object: String) throws {
    try? SharedObject.unlink(name: "shmtable.\(object)")
    let file = try SharedObject.create(name: "shmtable.\(object)", mode: 0o600)
    if bytes.isEmpty { return }
    try file.allocate(offset: 0, count: bytes.count)
    let mapping = try file.map(count: bytes.count, writable: true)
    withExtendedLifetime(mapping) { _ = memcpy(mapping.base, bytes, bytes.count) }
  }

  private func store(_ value: UInt64, at offset: Int, _ object: String) throws {
    let mapping = try SharedObject.open(name: "shmtable.\(object)", writable: true).map(count: 4096, writable: true)
    withExtendedLifetime(mapping) { mapping.base.storeBytes(of: value, toByteOffset: offset, as: UInt64.self) }
  }

  @Test(arguments: Table.Variant.allCases) func whoOpensATableThatGrowsFindsItWhole(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let segment = table.segment
      let ctl = segment.controlMemory!
      // Whenever its length is asked for, somebody makes the object longer and the retained ring twice as large, just after.
      let mask = ControlLayout.retained + 16
      let before = ctl.loadRelaxed(mask)
      var byteCount = segment.geometry.retainedOffset + (Int(before) + 1) * RetainedRing.recordBytes
      let check = ControlAttachmentCheck(ctl: ctl, data: segment.data, geometry: segment.geometry) {
        defer {
          ctl.storeRelease(mask, ctl.loadRelaxed(mask) * 2 + 1)
          byteCount = segment.geometry.retainedOffset + (Int(ctl.loadRelaxed(mask)) + 1) * RetainedRing.recordBytes
        }
        return byteCount
      }
      try check.check()
      #expect(ctl.loadRelaxed(mask) > before)
      ctl.storeRelease(mask, before)
    }
  }

  /// Between its two looks at the number of units the table drops several of them.
  @Test(arguments: Table.Variant.allCases) func whoOpensATableThatShrinksFindsItWhole(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let segment = table.segment
      let ctl = segment.controlMemory!
      let value = [UInt8](repeating: 1, count: 8_000)
      for index in 0..<600 { try table.set("key \(index)", value) }
      for index in 0..<600 { try table.remove("key \(index)") }
      let before = ctl.loadRelaxed(ControlLayout.units)
      let check = ControlAttachmentCheck(ctl: ctl, data: segment.data, geometry: segment.geometry) {
        var isUnfinished = true
        while isUnfinished {
          _ = try? table.administration.maintain()
          isUnfinished = (try? table.administration.shrink())??.isUnfinished ?? false
        }
        return segment.geometry.controlBytes
      }
      try check.check()
      #expect(ctl.loadRelaxed(ControlLayout.units) + 2 <= before)
    }
  }

  /// Between the looks at the journal's size and at its length somebody's barrier makes both larger.
  @Test func whoOpensATableBesideALargeBarrierFindsItWhole() throws {
    try withTable(.rcu) { table throws in
      let segment = table.segment
      let ctl = segment.controlMemory!
      let writer = try worker(table)
      try writer.ask("barrier", expecting: "in")
      let before = ctl.loadRelaxed(ControlLayout.journalAllocated)
      var lengthsAsked = 0
      let check = ControlAttachmentCheck(ctl: ctl, data: segment.data, geometry: segment.geometry) {
        lengthsAsked += 1
        // The second is the journal's: its size has just been looked at.
        if lengthsAsked == 2 { try? writer.ask("fill key 6000", expecting: "ok") }
        return segment.geometry.controlBytes
      }
      try check.check()
      #expect(ctl.loadRelaxed(ControlLayout.journalAllocated) > before)
      try writer.ask("commit", expecting: "ok")
      try writer.finish()
    }
  }
}

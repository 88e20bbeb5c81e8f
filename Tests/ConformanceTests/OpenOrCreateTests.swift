import Glibc
import SharedMemory
import SharedTable
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// A table of which any process may be the first: whoever comes gets the same one.
@Suite struct OpenOrCreateTests {
  @Test(arguments: Table.Variant.allCases) func whatIsNotThereIsMadeAsTheOptionsSay(_ variant: Table.Variant) throws {
    try withTableName { (name: String) throws -> Void in
      let table = try Table.openOrCreate(name, .init(variant: variant, capacityBytes: 4 << 20, mode: 0o640))
      #expect(table.variant == variant && table.capacityBytes == 4 << 20)
      #expect(try !table.isObserver && table.administration.rights().mode == 0o640)
      try table.set("k", 1)
      #expect(try Table.open(name).get("k") == 1)
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatIsThereIsOpenedAsItIs(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 4 << 20) { table throws in
      try table.set("k", 1)
      let others = Table.Variant.allCases.filter { $0 != variant }
      // Options that no table can be made with are not looked at either.
      for options in [Table.Options(variant: others[0], capacityBytes: 8 << 20), .init(capacityBytes: -1)] {
        let again = try Table.openOrCreate(table.name, options)
        #expect(again.variant == variant && again.capacityBytes == table.capacityBytes)
        #expect(try !again.isObserver && again.get("k") == 1)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func processesThatRaceGetOneTable(_ variant: Table.Variant) throws {
    let workers = try (0..<2).map { _ in try WorkerProcess("table-worker") }
    let others = Table.Variant.allCases.filter { $0 != variant }
    for round in 0..<50 {
      try withTableName { (name: String) throws -> Void in
        let start = HostClock.monotonicNanoseconds + 1_000_000
        // In every second round they do not even agree in what to make.
        try workers[0].send("wait-for \(start) open-or-create \(name) \(variant)")
        try workers[1].send("wait-for \(start) open-or-create \(name) \(round % 2 == 0 ? variant : others[0])")
        let answers = try workers.map { try $0.readLine() }
        #expect(answers[0] == answers[1] && ["rcu", "rwlock"].contains(answers[0]), "round \(round): \(answers)")
        for worker in workers { try worker.send("increment n 10") }
        for worker in workers { try worker.expectLine("ok") }
        #expect(try Table.open(name).get("n") == 20, "round \(round)")
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func whoComesWhileTablesAreDroppedGetsOne(_ variant: Table.Variant) throws {
    let workers = try (0..<2).map { _ in try WorkerProcess("table-worker") }
    try withTableName { (name: String) throws -> Void in
      for round in 0..<50 {
        _ = try? Table.create(name, .init(variant: variant, capacityBytes: 2 << 20))
        for worker in workers { try worker.send("open-or-create \(name) \(variant)") }
        try? Table.drop(name)
        for worker in workers { #expect(try worker.readLine() == "\(variant)", "round \(round)") }
      }
    }
  }

  @Test(arguments: [Table.Access.participant, .observer, .automatic])
  func whoOpensWhatIsReplacedGetsOneOfTheTablesOrNone(_ access: Table.Access) throws {
    let worker = try WorkerProcess("table-worker")
    try withTableName { (name: String) throws -> Void in
      _ = try Table.create(name, .init(capacityBytes: 2 << 20))
      var (opened, waits) = (0, 0)
      for _ in 0..<10 {
        try worker.send("replace \(name) 100")
        for _ in 0..<100 {
          let start = ContinuousClock.now
          do throws(TableError) {
            let table = try Table.open(name, access: access)
            #expect(table.count == 0)
            opened += 1
          } catch {
            // Nobody waits longer than a second for a creator that does not go on.
            let hasWaited = error.code == .notATable && ContinuousClock.now - start >= .seconds(1)
            #expect(error.code == .noSuchTable || hasWaited, "\(error)")
            if hasWaited { waits += 1 }
          }
        }
        try worker.expectLine("ok")
      }
      #expect(opened > 0 && waits < 5)
    }
  }

  /// Between a dropper's two unlinks there is no table to open, and none can be made.
  @Test func aDropperThatHasNotFinishedIsWaitedForAndNotForEver() throws {
    try withTableName { (name: String) throws -> Void in
      try Table.create(name, .init(capacityBytes: 2 << 20)).set("k", "old")
      let control = try SharedObject.open(name: "shmtable.\(name).ctl", writable: true)
      #expect(try control.tryLock(.exclusive))
      try SharedObject.unlink(name: "shmtable.\(name).data")
      let refusal = error { try Table.openOrCreate(name, timeout: .milliseconds(20)) }
      #expect(refusal?.code == .timedOut)
      #expect(refusal?.message.contains("makes or drops it") == true)
      let waiting = try WorkerProcess("table-worker")
      try waiting.send("open-or-create \(name) rwlock")
      try waiting.waitUntilAsleep()
      try SharedObject.unlink(name: "shmtable.\(name).ctl")
      try control.unlock()
      try waiting.expectLine("rwlock")
      try waiting.ask("get k", expecting: "nil")
    }
  }

  @Test func aCreatorThatHasNotFinishedIsWaitedForAndNotForEver() throws {
    try withTableName { (name: String) throws -> Void in
      _ = try Table.create(name, .init(capacityBytes: 2 << 20))
      let control = try SharedObject.open(name: "shmtable.\(name).ctl", writable: true)
      #expect(try control.tryLock(.exclusive))
      try setReady(0, name)
      #expect(code { try Table.openOrCreate(name, timeout: .milliseconds(20)) } == .timedOut)
      let waiting = try WorkerProcess("table-worker")
      try waiting.send("open-or-create \(name) rwlock")
      try waiting.waitUntilAsleep()
      try setReady(1, name)
      try control.unlock()
      try waiting.expectLine("rcu")
    }
  }

  @Test func whatADeadCreatorOrDropperLeftIsReplaced() throws {
    try withTableName { (name: String) throws -> Void in
      let options = Table.Options(capacityBytes: 2 << 20)
      // A creator before the ready flag; one before it had written anything; a dropper between its unlinks.
      let deaths: [() throws -> Void] = [
        { try setReady(0, name) },
        {
          try Table.drop(name)
          _ = try SharedObject.create(name: "shmtable.\(name).ctl", mode: 0o600)
        },
        { try SharedObject.unlink(name: "shmtable.\(name).data") },
      ]
      try Table.create(name, options).set("k", "old")
      for die in deaths {
        try die()
        let table = try Table.openOrCreate(name, options)
        #expect(try table.get("k", as: String.self) == nil)
        try table.set("k", "new")
        #expect(try Table.open(name, access: .observer).get("k") == "new")
      }
    }
  }

  @Test func whatIsNoTableIsLeftAloneAndSaid() throws {
    try withTableName { (name: String) throws -> Void in
      for suffix in ["data", "ctl"] { mkdir("/dev/shm/shmtable.\(name).\(suffix)", 0o700) }
      #expect(code { try Table.openOrCreate(name) } == .notATable)
      for suffix in ["data", "ctl"] { #expect(rmdir("/dev/shm/shmtable.\(name).\(suffix)") == 0) }
    }
    for name in ["", "a/b", ".hidden"] { #expect(code { try Table.openOrCreate(name) } == .invalid) }
    try withTableName { (name: String) throws -> Void in
      #expect(code { try Table.openOrCreate(name, .init(capacityBytes: -1)) } == .invalid)
      #expect(try SharedObject.list(prefix: "shmtable.\(name)").isEmpty)
    }
  }

  @Test func aDamagedTableIsNotReplaced() throws {
    try withTableName { (name: String) throws -> Void in
      _ = try Table.create(name, .init(capacityBytes: 2 << 20))
      let data = try SharedObject.open(name: "shmtable.\(name).data", writable: true)
      try data.truncate(to: 4096)
      #expect(code { try Table.openOrCreate(name) } == .damaged)
      #expect(try data.status().size == 4096 && data.status().links == 1)
    }
  }

  /// While a table's group changes it is its owner's alone: where the system refuses the change, its users must not stay out.
  @Test(.enabled(if: geteuid() == 0, "needs root to become somebody else"))
  func aGroupThatIsRefusedLeavesTheRightsAsTheyWere() throws {
    try withTableName { (name: String) throws -> Void in
      let owner = try WorkerProcess("table-worker")
      try owner.ask("become 65534", expecting: "ok")
      try owner.ask("open-or-create \(name) rcu", expecting: "rcu")
      let objects = try ["ctl", "data"].map { try SharedObject.open(name: "shmtable.\(name).\($0)", writable: true) }
      for object in objects { try object.setMode(0o660) }
      try owner.ask("set-group 0", expecting: "error notPermitted")
      #expect(try objects.map { try $0.status().mode & 0o777 } == [0o660, 0o660])
      #expect(try objects.map { try $0.status().owner } == [65534, 65534])
      try owner.finish()
    }
  }

  @Test(.enabled(if: geteuid() == 0, "needs root to become somebody else"))
  func withoutRightsItIsNotPermittedAndWithReadRightsObserved() throws {
    try withTable(.rcu) { table throws in
      let stranger = try WorkerProcess("table-worker")
      try stranger.ask("become 65534", expecting: "ok")
      try stranger.ask("open-or-create \(table.name) rcu", expecting: "error notPermitted")
      try table.administration.setRights(.init(mode: 0o644, owner: 0, group: 0))
      try stranger.ask("open-or-create \(table.name) rcu", expecting: "rcu")
      try stranger.ask("set k v", expecting: "error notPermitted")
      // Half a table of somebody else's: neither to open nor to replace.
      try withTableName { (name: String) throws -> Void in
        _ = try SharedObject.create(name: "shmtable.\(name).ctl", mode: 0o600)
        try stranger.ask("open-or-create \(name) rcu 20", expecting: "error timedOut")
        // Its maker keeps it to itself until it is made, which is no refusal for who came before.
        try stranger.send("open-or-create \(name) rcu")
        try stranger.waitUntilAsleep()
        _ = try SharedObject.create(name: "shmtable.\(name).data", mode: 0o600)
        for _ in 0..<1000 { try stranger.waitUntilAsleep() }
        _ = try Table.create(name, .init(variant: .rwlock, capacityBytes: 2 << 20, mode: 0o644))
        try stranger.expectLine("rwlock")
      }
    }
  }

  private func setReady(_ value: UInt64, _ name: String) throws {
    let object = try SharedObject.open(name: "shmtable.\(name).ctl", writable: true)
    let mapping = try object.map(count: 4096, writable: true)
    withExtendedLifetime(mapping) {
      mapping.base.storeBytes(of: value, toByteOffset: ControlLayout.ready, as: UInt64.self)
    }
  }
}

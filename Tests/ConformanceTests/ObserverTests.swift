import Glibc
import SharedMemory
import SharedTable
import TestSupport
import Testing

/// G8: an observer can harm nobody, and nothing it reads can harm it.
@Suite struct ObserverTests {
  @Test(arguments: Table.Variant.allCases) func anObserversMappingIsReallyReadOnly(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("k", "v")
      let observer = try worker(table, "observer")
      try observer.ask("get k", expecting: "v")
      try observer.send("poke 64")
      #expect(try observer.wait() == .signal(SIGSEGV))
      #expect(try table.get("k") == "v")
    }
  }

  @Test(arguments: Table.Variant.allCases) func anObserversWritesAreRefused(_ variant: Table.Variant) throws {
    try Setting(variant: variant, way: .observer).with { table, observer throws in
      #expect(observer.isObserver)
      #expect(code { try observer.set("k", 1) } == .notPermitted)
      #expect(code { try observer.remove("k") } == .notPermitted)
      #expect(code { try observer.barrier { _ in } } == .notPermitted)
      #expect(code { try observer.maintain() } == .notPermitted)
      #expect(table.count == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases) func withReadRightsOnlyOneObservesAndLocksNobodyOut(
    _ variant: Table.Variant
  ) throws {
    try withTableName { (name: String) throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20, mode: 0o644))
      try table.set("k", "v")
      let stranger = try WorkerProcess("table-worker")
      try stranger.ask("become 65534", expecting: "ok")
      try stranger.ask("open-automatically \(name)", expecting: "observer")
      try stranger.ask("get k", expecting: "v")
      try stranger.ask("open \(name) participant", expecting: "error notPermitted")
      if variant == .rcu { _ = try stranger.ask("read") }
      for round in 0..<1000 { try table.set("k", "\(round)") }
      if variant == .rcu {
        try stranger.ask("get k", expecting: "error snapshotTooOld")
        try stranger.ask("end", expecting: "ok")
      }
      try stranger.ask("get k", expecting: "999")
    }
  }

  @Test func anObserversReadIsNeverOfTwoVersionsHoweverFastTheWriter() throws {
    for variant in Table.Variant.allCases {
      try Setting(variant: variant, way: .observer).with { table, observer throws in
        let writer = try worker(table)
        // Two keys that only ever change together.
        try table.barrier { tx in
          try tx.set("n", 0)
          try tx.set("m", 0)
        }
        try writer.send("twins 3000")
        var seen = 0
        while !writer.hasOutput {
          do {
            let (n, m) = try observer.read { view in (try view.get("n", as: Int.self), try view.get("m", as: Int.self)) }
            #expect(n == m)
            seen += 1
          } catch let error as TableError where error.code == .snapshotTooOld || error.code == .busy {
          }
        }
        try writer.expectLine("ok")
        #expect(try observer.get("n") == 3000)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases, [UInt64](1...4)) func damagedContentsAreAnErrorAndNeverACrash(
    _ variant: Table.Variant, _ seed: UInt64
  ) throws {
    try withTable(variant, capacityBytes: 2 << 20) { table throws in
      let forge = try table.forge
      for index in 0..<64 { try table.set("key\(index)", [UInt8](repeating: 1, count: index * 40)) }
      for index in 0..<2500 as Range<UInt64> { try table.set(forge.key(hash: 0x77 << 56 | index << 24), Int(index)) }
      try table.set("number", 1)
      if variant == .rcu {
        let snapshot = try table.snapshot()
        for index in 0..<64 { try table.set("key\(index)", "next") }
        for index in 0..<64 where index % 2 == 0 { try table.remove("key\(index)") }
        _ = snapshot.version
      }
      try withCopy(of: table) { copy in
        let observer = try WorkerProcess("table-worker", timeoutSeconds: 120)
        let answer = try observer.ask("hostile \(copy) \(seed) 400")
        #expect(answer.hasPrefix("survived 400"), "seed \(seed)")
        #expect(!answer.hasSuffix(" 0 errors"), "nothing was damaged")
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func contentsMadeToExhaustTheReadersMemoryAreAnError(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant, capacityBytes: 16 << 20) { table throws in
      try table.set("key0", [UInt8](repeating: 1, count: 4 << 20))
      try withCopy(of: table) { copy in
        let observer = try WorkerProcess("table-worker")
        try observer.ask("bomb \(copy) \(2 << 30)", expecting: "refused")
      }
    }
  }

  /// Calls `body` with the name of a data object that is a copy of the table's.
  private func withCopy(of table: Table, _ body: (String) throws -> Void) throws {
    try withTableName { (name: String) throws -> Void in
      let source = try SharedObject.open(name: "shmtable.\(table.name).data", writable: false)
      let size = try source.status().size
      let copy = try SharedObject.create(name: "shmtable.\(name).data", mode: 0o600)
      try copy.allocate(offset: 0, count: size)
      let (from, to) = (try source.map(count: size, writable: false), try copy.map(count: size, writable: true))
      withExtendedLifetime((from, to)) { _ = memcpy(to.base, from.base, size) }
      try body(name)
    }
  }
}

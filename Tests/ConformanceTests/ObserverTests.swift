import Glibc
import SharedMemory
import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// G8: an observer can harm nobody, and nothing it reads can harm it.
@Suite struct ObserverTests {
  @Test(arguments: Table.Variant.allCases) func anObserversMappingIsReallyReadOnly(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("k", "v")
      let observer = try worker(table, "observer")
      try observer.ask("get k", expecting: "v")
      try observer.ask("writable-mappings", expecting: "none")
      #expect(try worker(table).ask("writable-mappings").contains("rw-s"))
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
      #expect(code { try observer.administration.maintain() } == .notPermitted)
      #expect(table.count == 0)
    }
  }

  @Test(
    .enabled(if: geteuid() == 0, "cannot run: needs root to become somebody else"), arguments: Table.Variant.allCases)
  func withReadRightsOnlyOneObservesAndLocksNobodyOut(_ variant: Table.Variant) throws {
    try withTableName { (name: String) throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20, mode: 0o644))
      try table.set("k", "v")
      let stranger = try WorkerProcess("table-worker")
      try stranger.ask("become 65534", expecting: "ok")
      try stranger.ask("open-automatically \(name)", expecting: "observer")
      try stranger.ask("get k", expecting: "v")
      try stranger.ask("open \(name) participant", expecting: "error notPermitted")
      if variant == .rcu { _ = try stranger.ask("read") }
      for round in 0..<3000 { try table.set("k", "\(round)") }
      if variant == .rcu {
        try stranger.ask("get k", expecting: "error snapshotTooOld")
        try stranger.ask("end", expecting: "ok")
      }
      try stranger.ask("get k", expecting: "2999")
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
        // How often it has seen another pair while the writer was at work.
        var (seen, last) = (0, 0 as Int?)
        try goOn(until: { seen >= 100 }) {
          try writer.send("twins 3000")
          while !writer.hasOutput {
            do {
              let twins = try observer.read { view in try ["n", "m"].map { try view.get($0, as: Int.self) } }
              #expect(twins[0] == twins[1])
              if twins[0] != last { seen += 1 }
              last = twins[0]
            } catch let error as TableError where error.code == .snapshotTooOld || error.code == .busy {
            }
          }
          try writer.expectLine("ok")
        }
        #expect(seen >= 100)
        #expect(try observer.get("n") == 3000)
      }
    }
  }

  /// A section may walk through a part of the table as often as it likes: that is no directory that leads in circles.
  @Test(arguments: Table.Variant.allCases) func aPartIsWalkedThroughAgainAndAgain(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 1 << 20) { table throws in
      for index in 0..<3000 { try table.set("key \(index)", index) }
      let observer = try Table.open(table.name, access: .observer)
      try observer.read { view in
        var middle = KeyCursor()
        try view.forEach(from: &middle) { _, _ in }
        try #require(!middle.isAtEnd)
        var counts: Set<Int> = []
        for _ in 0..<1000 {
          var (cursor, count) = (middle, 0)
          try view.forEach(from: &cursor) { _, _ in count += 1 }
          counts.insert(count)
        }
        #expect(counts.count == 1)
      }
    }
  }
}

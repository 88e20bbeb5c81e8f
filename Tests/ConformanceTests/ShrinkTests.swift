import Glibc
import SharedMemory
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// Memory that a table does not need any more goes back to the system, and comes again.
@Suite struct ShrinkTests {
  private static let capacity = 16 << 20
  private static let unit = 1 << 20

  private func options(_ variant: Table.Variant, preallocate: Bool = false) -> Table.Options {
    Table.Options(variant: variant, capacityBytes: Self.capacity, preallocate: preallocate)
  }

  private func value(_ index: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 500 + index % 7 * 300)
  }

  /// - Returns: how many values the table took.
  private func fill(_ table: Table) throws -> Int {
    var stored = 0
    while true {
      do throws(TableError) { try table.set("key \(stored)", value(stored)) } catch {
        #expect(error.code == .full)
        return stored
      }
      stored += 1
    }
  }

  private func remove(_ table: Table, _ indices: some Sequence<Int>) throws {
    for index in indices { #expect(try table.remove("key \(index)")) }
  }

  /// Shrinks until there is nothing more to do.
  /// - Returns: bytes.
  @discardableResult
  private func shrink(_ table: Table) throws -> Int {
    var bytes = 0
    while true {
      try table.administration.maintain()
      let step = try #require(try table.administration.shrink())
      bytes += step.bytesGivenBack
      if !step.isUnfinished { return bytes }
    }
  }

  /// Bytes of /dev/shm that have memory behind them.
  private func allocated(_ name: String) throws -> Int {
    try ["data", "ctl"].reduce(0) { sum, object in
      try sum + SharedObject.open(name: "shmtable.\(name).\(object)", writable: false).status().allocated
    }
  }

  @Test(arguments: Table.Variant.allCases) func anEmptiedTableIsAsSmallAsANewOne(_ variant: Table.Variant) throws {
    try withPoisonedTable(options(variant)) { name, table in
      let new = try allocated(name)
      for _ in 1...2 {
        let stored = try fill(table)
        try remove(table, 0..<stored)
        let full = try allocated(name)
        let givenBack = try shrink(table)
        let rest = try allocated(name)
        #expect(givenBack == full - rest)
        #expect(rest <= new + (128 << 10), "\(rest) bytes of \(full), when it was new \(new)")
        #expect(table.statistics.claimedBytes < 3 * Self.unit)
        #expect(try table.check() == [])
      }
    }
  }

  /// What is left is moved to the front, and stays what it was.
  @Test(arguments: Table.Variant.allCases) func whatIsLeftIsMovedTogether(_ variant: Table.Variant) throws {
    try withPoisonedTable(options(variant)) { name, table in
      let stored = try fill(table)
      let full = try allocated(name)
      try remove(table, (0..<stored).filter { $0 % 6 != 0 })
      try shrink(table)
      #expect(try allocated(name) < full / 2)
      #expect(try table.check() == [])
      for index in 0..<stored { #expect(try table.get("key \(index)") == (index % 6 == 0 ? value(index) : nil)) }
      let again = try fill(table)
      #expect(again > stored / 10 * 9)
      #expect(try table.check() == [])
      for index in 0..<again { #expect(try table.get("key \(index)") == value(index)) }
    }
  }

  /// Writers would wait while a long value is copied.
  @Test(arguments: [(17 << 20, false), (15 << 20, true)]) func aLongValueIsNotMoved(_ length: Int, _ isMoved: Bool)
    throws
  {
    try withTable(.rcu, capacityBytes: 128 << 20) { table in
      for index in 0..<24 { try table.set("pad \(index)", [UInt8](repeating: 1, count: 1 << 20)) }
      let value = [UInt8](repeating: 7, count: length)
      try table.set("long", value)
      for index in 0..<24 { try table.remove("pad \(index)") }
      try shrink(table)
      #expect((table.statistics.claimedBytes < 30 << 20) == isMoved)
      #expect(try table.get("long") == value)
    }
  }

  @Test(arguments: Table.Variant.allCases) func nothingIsGivenBackBesideAnObserver(_ variant: Table.Variant) throws {
    try withPoisonedTable(options(variant)) { name, table in
      let stored = try fill(table)
      try remove(table, 1..<stored)
      let full = try allocated(name)
      do {
        let observer = try Table.open(name, access: .observer)
        #expect(try shrink(table) == 0)
        #expect(try allocated(name) == full)
        #expect(try observer.get("key 0") == value(0))
      }
      #expect(try shrink(table) > 10 * Self.unit)
      let observer = try Table.open(name, access: .observer)
      #expect(try observer.get("key 0") == value(0))
      #expect(try observer.get("key 1", as: [UInt8].self) == nil)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aPreallocatedTableKeepsItsMemory(_ variant: Table.Variant) throws {
    try withPoisonedTable(options(variant, preallocate: true)) { name, table in
      let full = try allocated(name)
      #expect(try shrink(table) == 0)
      #expect(try allocated(name) == full)
    }
  }

  @Test func aSnapshotKeepsWhatItSees() throws {
    try withPoisonedTable(options(.rcu)) { name, table in
      var limits = try table.administration.limits()
      limits.stalledReaderPolicy = .refuse
      try table.administration.setLimits(limits)
      for index in 0..<5_000 { try table.set("key \(index)", value(index)) }
      let snapshot = try table.snapshot()
      for index in 0..<2_000 { try table.remove("key \(index)") }
      try shrink(table)
      try snapshot.read { view throws in
        for index in 0..<5_000 { #expect(try view.get("key \(index)") == value(index)) }
      }
      #expect(try table.check() == [])
    }
  }

  /// As long as a reader is at an older version, no pages go. They are not forgotten over that.
  @Test func whatABarrierMadeTheRingsGrowByIsGivenBackAfterASnapshot() throws {
    // Of one unit, of which none is given back: only what the barrier's records took.
    try withPoisonedTable(Table.Options(capacityBytes: Self.unit)) { name, table in
      let new = try allocated(name)
      try table.barrier { (tx: inout Transaction) throws in for index in 0..<3_000 { try tx.set("key", index) } }
      while try table.administration.maintain() == true {}
      #expect(try allocated(name) > new + (256 << 10))
      var snapshot: Snapshot? = try table.snapshot()
      try table.set("another key", 1)
      let version = table.version
      #expect(try table.administration.shrink()?.bytesGivenBack == 0)
      #expect(table.version == version, "to try in vain makes no version")
      #expect(try snapshot?.get("key") == 2_999)
      snapshot = nil
      try shrink(table)
      #expect(try allocated(name) <= new + (16 << 10))
      #expect(try table.check() == [])
    }
  }

  /// Who shrinks a table of the rwlock variant keeps readers out, and does not wait for one that stays: writers would wait with it.
  @Test func aReaderThatStaysIsNotWaitedFor() throws {
    try withPoisonedTable(options(.rwlock)) { name, table in
      let stored = try fill(table)
      try remove(table, 0..<stored)
      let full = try allocated(name)
      try table.read { _ throws in
        let shrinking = try TestThread { try table.administration.shrink() }.join()
        #expect(shrinking == nil)
      }
      #expect(try allocated(name) == full)
      #expect(try shrink(table) > 10 * Self.unit)
    }
  }

  /// Others use the table meanwhile: a process that takes part, threads that read, and openings that come and go.
  @Test(arguments: Table.Variant.allCases) func othersGoOnMeanwhile(_ variant: Table.Variant) throws {
    try withPoisonedTable(options(variant)) { name, table in
      let worker = try WorkerProcess("table-worker")
      try worker.ask("open \(name)", expecting: "ok")
      try table.set("steady", value(1))
      let isOver = Atomic(false)
      let wrong = Mutex<[String]>([])
      let threads = [Table.Access.participant, .observer].map { access in
        startThread {
          while !isOver.load(ordering: .relaxed) {
            do {
              let own = try Table.open(name, access: access, timeout: .seconds(30))
              for _ in 0..<20 {
                let read = try own.get("steady", as: [UInt8].self)
                if read != value(1) { wrong.withLock { $0.append("\(access) read \(String(describing: read))") } }
              }
              if access == .participant { _ = own.statistics }
            } catch {
              wrong.withLock { $0.append("\(access): \(error)") }
            }
          }
        }
      }
      defer { isOver.store(true, ordering: .relaxed) }
      for round in 0..<4 {
        for index in 0..<6_000 { try table.set("key \(index)", value(index + round)) }
        try worker.ask("set mark \(round)", expecting: "ok")
        try remove(table, 0..<6_000)
        for _ in 0..<200 { _ = try table.administration.shrink() }
        try worker.ask("set mark again", expecting: "ok")
      }
      isOver.store(true, ordering: .relaxed)
      for thread in threads { pthread_join(thread, nil) }
      #expect(wrong.withLock { $0 } == [])
      #expect(try table.check() == [])
      try worker.finish()
    }
  }
}

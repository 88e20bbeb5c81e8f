import Dispatch
import Glibc
import SharedTable
import Synchronization
import TableEngine
import TableStore
import TableTestSupport
import TestSupport
import Testing

/// The thread that keeps a store, and who waits for it.
@Suite struct KeeperTests {
  @Test(arguments: [StoreMode.everyBarrier, .relaxed(.milliseconds(20))])
  func whoWaitsIsToldWhenItIsOnTheDisk(_ mode: StoreMode) throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20), timeout: .seconds(100))
        let keeper = try StoreKeeper(table, mode, in: directory) { _ in }
        defer { keeper.stopAndWait() }
        #expect(eventually { table.segment.keeping == .kept })
        let observer = try Table.open(name, access: .observer, timeout: .seconds(100))
        for number in 1...20 {
          try table.barrier(durable: true) { try $0.set("a", number) }
          #expect(table.durableVersion > 0)
          try observer.waitUntilDurable(observer.version)
        }
      }
    }
  }

  @Test func aStoppedKeeperHasStoredWhatWasLeft() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        let keeper = try StoreKeeper(table, .relaxed(.seconds(3600)), in: directory) { _ in }
        for number in 0..<1000 { try table.set("key \(number % 17)", number) }
        keeper.stopAndWait()
        #expect(table.durableVersion >= table.version)
        let before = try contents(table)
        #expect(try contents(try #require(try rebooted(name, from: directory))) == before)
      }
    }
  }

  /// A disk may take longer for the last sync than the daemon's watchdog waits.
  @Test func whoWaitsForAKeeperToStopGivesSignsOfLife() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20))
        try table.set("a", 1)
        // The keeper does not go on before somebody has waited for it for a while.
        let hasWaited = DispatchSemaphore(value: 0)
        let keeper = try StoreKeeper(table, .relaxed(.seconds(3600)), in: directory) { event in
          if case .newFile = event { hasWaited.wait() }
        }
        var beats = 0
        keeper.stopAndWait {
          beats += 1
          if beats == 2 { hasWaited.signal() }
        }
        #expect(beats >= 2)
        #expect(table.durableVersion == table.version)
      }
    }
  }

  /// What would wait for itself is an error at once, and the barrier goes on to be stored (G11).
  @Test(arguments: [Table.Variant.rcu, .rwlock])
  func callsInsideADurableBarrierAreErrorsAtOnce(_ variant: Table.Variant) throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20), timeout: .seconds(100))
        let keeper = try StoreKeeper(table, .everyBarrier, in: directory) { _ in }
        defer { keeper.stopAndWait() }
        #expect(eventually { table.segment.keeping == .kept })
        let other = try Table.open(name)
        let observer = try Table.open(name, access: .observer, timeout: .seconds(600))
        try table.barrier(durable: true) { tx in
          try tx.set("a", 1)
          // In the rwlock variant the keeper waits for this barrier.
          if variant == .rwlock {
            #expect(code { try observer.waitUntilDurable(observer.version + 1) } == .wouldDeadlock)
          }
          for handle in [table, other] {
            #expect(code { try handle.barrier(durable: true) { try $0.set("a", 2) } } == .wouldDeadlock)
            #expect(code { try handle.waitUntilDurable(handle.version) } == .wouldDeadlock)
            #expect(code { try handle.set("a", 3) } == .wouldDeadlock)
          }
          try tx.set("b", 1)
        }
        #expect(table.durableVersion >= table.version)
        let values = try [table.get("a", as: Int.self), table.get("b", as: Int.self)]
        #expect(values == [1, 1])
        if variant == .rwlock {
          let inRead = try table.read { _ in code { try observer.waitUntilDurable(observer.version + 1) } }
          #expect(inRead == .wouldDeadlock)
        }
        // And in a read section around it.
        let inRead = try table.read { _ in code { try other.barrier(durable: true) { try $0.set("a", 4) } } }
        #expect(inRead == .wouldDeadlock)
      }
    }
  }

  @Test func withoutAStoreOneIsToldSoAndTheBarrierStands() throws {
    try withTable(.rcu) { table in
      let error = error { try table.barrier(durable: true) { try $0.set("a", 1) } }
      #expect(error?.code == .notDurable)
      #expect(error?.message.contains("no store keeps this table") == true)
      let value = try table.get("a", as: Int.self)
      #expect(value == 1)
      #expect(code { try table.read { _ in try table.waitUntilDurable(1) } } == .wouldDeadlock)
    }
  }

  @Test func aStoreThatFailsIsSaidToWhoWaitsAndRecovers() throws {
    try withTableName { name in
      try withDirectory { directory in
        let table = try Table.create(name, .init(capacityBytes: 4 << 20), timeout: .seconds(100))
        // A file where the directory is to be.
        let place = StoreDirectory(directory.path + "/stores")
        close(open(place.path, O_CREAT | O_WRONLY, 0o600))
        let said = Mutex<[String]>([])
        let keeper = try StoreKeeper(table, .everyBarrier, in: place) { event in
          said.withLock {
            switch event {
            case .failed(let error): $0.append("failed \(error.code)")
            case .recovered: $0.append("recovered")
            default: break
            }
          }
        }
        defer { keeper.stopAndWait() }
        #expect(eventually { table.segment.keeping == .failed })
        #expect(code { try table.barrier(durable: true) { try $0.set("a", 1) } } == .notDurable)
        unlink(place.path)
        #expect(eventually { table.segment.keeping == .kept })
        try table.barrier(durable: true) { try $0.set("a", 2) }
        keeper.stopAndWait()
        #expect(said.withLock { $0 } == ["failed readOnly", "recovered"])
        removeTree(place.path)
      }
    }
  }
}

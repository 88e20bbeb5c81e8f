import Foundation
import Synchronization
import TableTestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// What one write reclaims is bounded, however much readers have kept before.
@Suite struct BoundedReclaimTests {
  /// The most that one of `count` writes added to a counter.
  private func most(of count: Int, _ counter: () -> Int, _ write: (Int) throws -> Void) rethrows -> Int {
    var most = 0
    for index in 0..<count {
      let before = counter()
      try write(index)
      most = max(most, counter() - before)
    }
    return most
  }

  /// Has another thread read the table, and runs `body` with its slot while that thread waits.
  private func withReader(of table: Table, _ body: (Int) throws -> Void) throws {
    let (ready, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let slot = Mutex<Int?>(nil)
    Thread.detachNewThread {
      _ = try? table.get("hot", as: Int.self)
      let record = try? table.segment.threadRecord()
      slot.withLock { $0 = record.map { Int($0.pointee.slotIndex) } }
      ready.signal()
      end.wait()
    }
    ready.wait()
    defer { end.signal() }
    try body(#require(slot.withLock { $0 }))
  }

  @Test func aSectionThatKeptMuchIsNotPaidForByOneWrite() throws {
    let table = try Table.temporary(capacityBytes: 64 << 20)
    let state = try #require(table.segment.participant).state
    let (entered, leave, left) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      try? table.read { _ in
        entered.signal()
        leave.wait()
      }
      left.signal()
    }
    entered.wait()
    for index in 0..<20_000 { try table.set("key\(index % 200)", index) }
    #expect(state.limbo.count > 10_000)
    leave.signal()
    left.wait()
    let freed = try most(of: 5_000, { state.work.blocksFreed }) { try table.set("key\($0 % 200)", $0) }
    #expect(freed <= FreePass.batch + InPlacePass.batch)
    #expect(state.limbo.count < FreePass.batch)
    #expect(try table.check() == [])
  }

  /// A reader that is stopped while it begins keeps the versions of a key in one chain; a snapshot has them unlinked one by one.
  @Test func aKeyThatWasRemovedManyTimesIsNotLookedForFromItsNewestVersionEachTime() throws {
    let table = try Table.temporary(capacityBytes: 64 << 20)
    let state = try #require(table.segment.participant).state
    try table.set("hot", -1)
    let snapshot = try table.snapshot()
    try table.set("other", 0)
    try withReader(of: table) { slot in
      let announced = state.slots.offset(slot) + SlotLayout.snapshot
      // What a `get` stores while it looks.
      state.ctl.storeRelease(announced, state.committed)
      for index in 0..<4_000 {
        try table.set("hot", index)
        try table.remove("hot")
      }
      state.ctl.storeRelease(announced, SlotWord.idle)
    }
    #expect(state.superseded.count > 7_000)
    let scanned = try most(of: 20_000, { state.work.versionsScanned }) { try table.set("other", $0) }
    #expect(scanned < 40_000)
    #expect(state.superseded.count < 2_000)
    #expect(try snapshot.get("hot") == -1)
    #expect(try table.get("hot", as: Int.self) == nil)
    #expect(try table.check() == [])
  }

  /// An old version that no snapshot needs any more, but perhaps a reader that has just begun, is looked at again once that one has moved,
  /// though the snapshots are the same as before.
  @Test func whatWasKeptForAReaderThatBeganIsFreedOnceItHasMoved() throws {
    let table = try Table.temporary(capacityBytes: 16 << 20)
    let state = try #require(table.segment.participant).state
    func collect() throws { while try table.administration.maintain() == true {} }
    try table.set("key", 0)
    let older = try table.snapshot()
    try table.set("key", 1)
    var younger: Snapshot? = try table.snapshot()
    let version = state.committed
    try table.set("key", 2)
    try collect()
    #expect(state.retained.count == 2)
    try withReader(of: table) { slot in
      let announced = state.slots.offset(slot) + SlotLayout.snapshot
      // As if it had been stopped after its look at the version, and before it announced that.
      state.ctl.storeRelease(announced, version)
      #expect(try younger?.get("key") == 1)
      younger = nil
      try collect()
      #expect(state.retained.count == 2)
      state.ctl.storeRelease(announced, SlotWord.idle)
    }
    try collect()
    #expect(state.retained.count == 1)
    #expect(try older.get("key") == 0)
    #expect(try table.get("key") == 2)
    #expect(try table.check() == [])
  }
}

import SharedTable
import TestSupport
import Testing

@testable import ShmdCore

/// Whether /dev/shm has room for a table.
@Suite struct RoomTests {
  /// Else the daemon would claim, zero and give back all that is free in each round.
  @Test func nothingIsClaimedForATableWhoseBookkeepingHasNoRoom() throws {
    let capacity = 8 << 20
    let table = TableConfiguration(
      file: "f", name: uniqueTableName(), options: Table.Options(capacityBytes: capacity, preallocate: true),
      durability: .none, lines: [:])
    let error = #expect(throws: TableError.self) { try Plan.requireRoom(for: table, in: capacity + 64 << 10) }
    #expect(
      error?.code == .full && error?.message.contains("'preallocate' asks for 8MiB, with the bookkeeping ") == true)
    try Plan.requireRoom(for: table, in: capacity + 4 << 20)
  }
}

import SharedMemory
import SharedTable
import TableEngine
import Testing

@Suite struct TableErrorTests {
  @Test(
    arguments: [
      .full(.capacity), .full(.fileSystem), .full(.fileSize), .full(.addressSpace), .full(.barrier), .full(.limbo(nil)),
      .full(.reclaimable(nil)), .full(.membarrier(nil)), .keyLength(0), .keyLength(1 << 20),
      .valueTooLarge(9, maximum: 8), .timedOut(nil), .wouldDeadlock(outer: "barrier"), .notLocked("k"),
      .tooManyKeys(40, maximum: 36), .snapshotTooOld, .busy(attempts: 3), .damaged("why"), .incompatible("why"),
      .notATable("why"), .noSuchTable, .exists, .notPermitted("why", instead: "what to do"),
      .refused(SystemError(call: "open", errno: 13), nil), .refused(SystemError(call: "open", errno: 30), nil), .forked,
      .unlinked, .slotsExhausted(4), .notDurable(.noStore), .notDurable(.failed), .notDurable(.late(durable: 7)),
      .mirrored, .unsupported("it", instead: "what to do"), .system(SystemError(call: "open", errno: 24)),
    ] as [EngineError])
  func theMessageSaysWhatHappenedAndThenWhatToDo(error: EngineError) {
    let parts = TableError(error, table: "settings").message.split(separator: "; ", maxSplits: 1)
    #expect(parts.count == 2, "\(parts)")
  }

  @Test func anImpossibleOptionIsInvalidAndNamesItsRule() throws {
    let error = #expect(throws: TableError.self) { _ = try Table.temporary(capacityBytes: 5) }
    #expect(error?.code == .invalid && error?.message == "capacity 5: at least 1048576 bytes")

    let table = try Table.temporary()
    var rights = try table.administration.rights()
    rights.mode = 0o602
    let refused = #expect(throws: TableError.self) { try table.administration.setRights(rights) }
    #expect(refused?.code == .invalid && refused?.message.hasPrefix("mode 602: ") == true)
    #expect(try table.administration.rights().mode != 0o602)
  }
}

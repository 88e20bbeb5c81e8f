import Glibc
import SharedTable
import TestSupport
import Testing

@testable import ShmdCore

/// Tables that the daemon stores.
@Suite struct DurabilityTests {
  @Test func durabilitiesAreReadAndOthersRefused() throws {
    #expect(try Scalars.durability("none") == .none)
    #expect(try Scalars.durability("every-barrier") == .everyBarrier)
    #expect(try Scalars.durability("relaxed") == .relaxed(.seconds(1)))
    #expect(try Scalars.durability("relaxed(250ms)") == .relaxed(.milliseconds(250)))
    for text in ["always", "relaxed(", "relaxed()", "relaxed(1ms)", ""] {
      #expect(throws: Complaint.self) { try Scalars.durability(text) }
    }
    #expect(throws: Complaint.self) { try Scalars.directory("var/lib") }
  }

  @Test func aDurableTableComesBackAfterAReboot() throws {
    let corner = try Corner()
    let name = corner.tableName()
    let directory = corner.directory + "/stores"
    defer {
      unlink("\(directory)/\(name).1.sqlite")
      rmdir(directory)
    }
    try corner.write(
      "interval: 20ms\nstore-directory: \(directory)\ntables:\n  - name: \(name)\n    capacity: 4MiB\n    durability: relaxed(60min)\n"
    )
    let first = try corner.startReady()
    let table = try Table.open(name)
    try table.set("a", "stays")
    let entry = try table.entry("a")
    // Within the hour nothing is due: the last sync stores it.
    first.signal(SIGTERM)
    #expect(try first.wait() == .code(0))
    removeObjects(ofTable: name)
    let second = try corner.startReady()
    #expect(second.transcript.contains("table restored from its store"))
    let back = try Table.open(name)
    #expect(try back.entry("a") == entry)
    #expect(back.version > table.version)
    second.signal(SIGTERM)
    #expect(try second.wait() == .code(0))
  }
}

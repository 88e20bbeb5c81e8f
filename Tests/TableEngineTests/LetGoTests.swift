import Glibc
import SharedMemory
import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// A table that is let go leaves nothing in its process: no descriptor, no mapping, and so no memory once it is dropped.
/// Counted in processes of their own.
@Suite struct LetGoTests {
  @Test(arguments: Table.Variant.allCases)
  func aTableThatIsOpenedOverAndOverLeavesNothing(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      try table.set("n", 0)
      let worker = try WorkerProcess("table-worker")
      try worker.ask("let-go-opened \(table.name) 2000", expecting: "0 descriptors, 0 mappings")
      try worker.ask("let-go-shared \(table.name) 200", expecting: "0 descriptors, 0 mappings")
      try worker.ask("let-go-observed \(table.name) 200", expecting: "0 descriptors, 0 mappings")
      try worker.finish()
      // All slots were given back: as many as there are can be had.
      #expect(try table.check().isEmpty)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func temporaryTablesLeaveNothing(_ variant: Table.Variant) throws {
    let worker = try WorkerProcess("table-worker")
    try worker.ask("let-go-temporary \(variant) 400", expecting: "0 descriptors, 0 mappings")
    try worker.ask("let-go-threads \(variant) 40", expecting: "ok")
    try worker.ask("let-go-temporary \(variant) 1", expecting: "0 descriptors, 0 mappings")
    try worker.finish()
  }

  /// A name that is there for a moment only would stay if the process were killed then.
  @Test(arguments: Table.Variant.allCases)
  func aTemporaryTableNeverHasAName(_ variant: Table.Variant) throws {
    let watch = inotify_init1(Int32(IN_NONBLOCK))
    defer { close(watch) }
    #expect(inotify_add_watch(watch, "/dev/shm", UInt32(IN_CREATE)) >= 0)
    // Seen by its name: that the watch works.
    try withTableName { name in
      let table = try Table.temporary(variant: variant)
      try table.set("n", 1)
      _ = try Table.create(name, .init(capacityBytes: 1 << 20))
      let names = createdNames(watch)
      #expect(names.contains("shmtable.\(name).ctl"))
      #expect(!names.contains { $0.hasPrefix("shmtable.temporary.\(ProcessIdentity.pid).") })
    }
  }

  private func createdNames(_ watch: Int32) -> Set<String> {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var names: Set<String> = []
    while case let count = read(watch, &buffer, buffer.count), count > 0 {
      // struct inotify_event: four words, of which the last is the name's length with its padding.
      var offset = 0
      while offset < count {
        let length = Int(buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self) })
        names.insert(String(decoding: buffer[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }, as: UTF8.self))
        offset += 16 + length
      }
    }
    return names
  }

  @Test func slotsOfSnapshotsAndPresenceAreGivenBack() throws {
    let worker = try WorkerProcess("table-worker")
    try worker.ask("let-go-snapshots 100", expecting: "0 descriptors, 0 mappings")
    try worker.finish()
  }

  /// Only a thread itself can give back its slot: at its next table, or at its end.
  @Test(arguments: Table.Variant.allCases)
  func aThreadThatLivesOnKeepsAFewTablesAtMost(_ variant: Table.Variant) throws {
    let worker = try WorkerProcess("table-worker")
    try worker.ask("let-go-beside-a-thread \(variant) 100", expecting: "true, then 0 descriptors, 0 mappings")
    try worker.ask("let-go-in-flight \(variant) 160", expecting: "bounded")
    try worker.finish()
  }

  @Test(arguments: Table.Variant.allCases)
  func aForkedChildLetsGoOfItsParentsTable(_ variant: Table.Variant) throws {
    let worker = try WorkerProcess("table-worker")
    try worker.ask("let-go-of-parents \(variant)", expecting: "0 descriptors, 0 mappings")
    try worker.finish()
  }

  @Test(arguments: Table.Variant.allCases)
  func aChildForkedBesideThreadsLetsGo(_ variant: Table.Variant) throws {
    let worker = try WorkerProcess("table-worker")
    try worker.ask("let-go-in-child \(variant) 20", expecting: "ok")
    try worker.ask("let-go-temporary \(variant) 1", expecting: "0 descriptors, 0 mappings")
    try worker.finish()
  }
}

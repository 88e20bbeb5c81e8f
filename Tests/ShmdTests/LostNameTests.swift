import Glibc
import SharedTable
import TestSupport
import Testing

@testable import ShmdCore

/// Durable tables that lose their name to something else while they cannot be stored.
@Suite struct LostNameTests {
  /// The only whole copy is in the daemon's memory then: a reload must not let go of it, or an older store would come back.
  @Test func aReloadKeepsWhatIsNotStoredWhileSomethingElseHasTheName() async throws {
    let fixture = try DaemonFixture()
    let (name, files) = try fixture.storeFiles()
    defer { files.remove() }
    let log = RecordedLog()
    let keeper = TableKeeper(log: log.logger)
    let configuration = files.configuration
    try await storeOnce(name, keeper, configuration)
    files.hide()
    takeName(name)

    for _ in 0..<2 { try await keeper.apply(configuration) }
    let kept = log.lines.filter { $0.hasPrefix("table kept in memory until it is stored problem=") }
    #expect(kept.count == 1, "\(log.lines)")
    let isTold = await comesTrue { await keeper.report.troubles.contains { $0.hasPrefix("'\(name)' is not stored: ") } }
    #expect(isTold)

    // The disk is in order again: the older store lies there.
    files.mend()
    rmdir("/dev/shm/shmtable.\(name).ctl")
    let isBack = await comesTrue {
      await keeper.lookAfterTables {}
      return log.lines.contains { $0.hasPrefix("table restored from its store") }
    }
    #expect(isBack, "\(log.lines)")
    #expect(try Table.open(name).get("k", as: String.self) == "only in memory")
    await keeper.stores.stop()
  }

  /// The last sync succeeds, and no table can be made of the file all the same. The only whole copy is in the daemon's memory: it is written to
  /// another file, and the table comes back from that.
  @Test(arguments: [false, true])
  func aTableWhoseStoreHasADamagedRowIsNotThrownAway(isReloaded: Bool) async throws {
    let fixture = try DaemonFixture()
    let (name, files) = try fixture.storeFiles()
    defer { files.remove() }
    let log = RecordedLog()
    let keeper = TableKeeper(log: log.logger)
    let configuration = files.configuration
    try await storeOnce(name, keeper, configuration)
    #expect(try files.change("another value", to: "a n other value") > 0)
    removeObjects(ofTable: name)

    await keeper.lookAfterTables {}
    #expect(!log.lines.contains { $0.hasPrefix("table restored") }, "\(log.lines)")
    #expect(log.lines.contains { $0.hasPrefix("table in trouble") && $0.contains("do not stop shmd") }, "\(log.lines)")
    if isReloaded { try await keeper.apply(configuration) }
    await keeper.lookAfterTables {}
    #expect(log.lines.contains { $0.hasPrefix("table restored") }, "\(log.lines)")
    let back = try Table.open(name)
    #expect(try back.get("k", as: String.self) == "only in memory")
    #expect(try back.get("l", as: String.self) == "another value")
    #expect(await keeper.report.troubles == [])
    await keeper.stores.stop()
  }

  /// Each time the table is written and read whole: of a disk that spoils each file that is not asked in each round.
  @Test func aStoreThatIsDamagedAgainIsLookedAtAfterAPause() async throws {
    let fixture = try DaemonFixture()
    let (name, files) = try fixture.storeFiles()
    defer { files.remove() }
    let log = RecordedLog()
    let keeper = TableKeeper(log: log.logger)
    let configuration = files.configuration
    try await storeOnce(name, keeper, configuration)
    for generation in 1...2 {
      let isWritten = await comesTrue { log.lines.filter { $0.hasPrefix("store written anew") }.count == generation }
      try #require(isWritten)
      #expect(try files.change("another value", to: "a n other value", generation) > 0)
      removeObjects(ofTable: name)
      await keeper.lookAfterTables {}
    }
    let isWritten = await comesTrue { log.lines.filter { $0.hasPrefix("store written anew") }.count == 3 }
    #expect(isWritten)
    await keeper.lookAfterTables {}
    #expect(!log.lines.contains { $0.hasPrefix("table restored") }, "\(log.lines)")
    try await keeper.apply(configuration)
    #expect(log.lines.contains { $0.hasPrefix("table restored") }, "\(log.lines)")
    #expect(try Table.open(name).get("l", as: String.self) == "another value")
    await keeper.stores.stop()
  }

  @Test func whatIsLostWithATableThatIsLetGoIsSaid() async throws {
    let fixture = try DaemonFixture()
    let (name, files) = try fixture.storeFiles()
    defer { files.remove() }
    let log = RecordedLog()
    let keeper = TableKeeper(log: log.logger)
    var configuration = files.configuration
    try await storeOnce(name, keeper, configuration)
    files.hide()
    takeName(name)
    configuration.tables = []
    try await keeper.apply(configuration)
    #expect(log.lines.contains { $0.hasPrefix("table that lost its name let go, what was not stored is lost ") })
    #expect(await keeper.report.troubles == [])
    files.mend()
  }

  /// Stores a key's first value, and not its second: that is not due in the test.
  private func storeOnce(_ name: String, _ keeper: TableKeeper, _ configuration: Configuration) async throws {
    let table = try Table.create(name, configuration.tables[0].options)
    try await table.set("k", "stored")
    try await table.set("l", "another value")
    try await keeper.apply(configuration)
    let isStored = await comesTrue { table.durableVersion >= table.version }
    try #require(isStored)
    try await table.set("k", "only in memory")
  }

  /// Somebody removes the table's objects, and puts something else under its name.
  private func takeName(_ name: String) {
    removeObjects(ofTable: name)
    #expect(mkdir("/dev/shm/shmtable.\(name).ctl", 0o700) == 0)
  }
}

extension DaemonFixture {
  fileprivate func storeFiles() throws -> (String, StoreFiles) {
    let name = tableName()
    return (name, StoreFiles(directory: directory + "/stores", table: name))
  }
}

extension StoreFiles {
  private var file: String { "\(directory)/\(table).1.sqlite" }

  /// A table whose first sync is at once, and whose second is not due in the test.
  fileprivate var configuration: Configuration {
    var configuration = Configuration(
      file: "f",
      tables: [
        TableConfiguration(
          file: "f", name: table, options: Table.Options(capacityBytes: 4 << 20),
          durability: .relaxed(.seconds(3600)), lines: [:])
      ])
    configuration.storeDirectory = directory
    return configuration
  }

  /// Puts something that is no store in the place of the store.
  fileprivate func hide() {
    rename(file, file + ".kept")
    unlink(file + "-wal")
    close(open(file, O_CREAT | O_WRONLY, 0o600))
    #expect(truncate(file, 4096) == 0)
  }

  fileprivate func mend() { #expect(rename(file + ".kept", file) == 0) }

  /// Overwrites a text wherever a file or its log has it, as a bad disk does.
  /// - Returns: how often it was there.
  fileprivate func change(_ text: String, to other: String, _ generation: Int = 1) throws -> Int {
    var count = 0
    for suffix in ["", "-wal"] {
      let path = "\(directory)/\(table).\(generation).sqlite\(suffix)"
      let descriptor = open(path, O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { throw Failure("open \(path): error \(errno)") }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
      #expect(pread(descriptor, &bytes, bytes.count, 0) == bytes.count)
      let (old, new) = (Array(text.utf8), Array(other.utf8.prefix(text.utf8.count)))
      for place in bytes.indices where bytes[place...].starts(with: old) {
        #expect(pwrite(descriptor, new, new.count, off_t(place)) == new.count)
        count += 1
      }
    }
    return count
  }
}

import Glibc
import SharedTable
import Synchronization
import TableStore
import TestSupport
import Testing

@testable import ShmdCore

/// Durable tables that lose their name to something else while they cannot be stored.
@Suite struct LostNameTests {
  /// The only whole copy is in the daemon's memory then: a reload must not let go of it, or an older store would come back.
  @Test func aReloadKeepsWhatIsNotStoredWhileSomethingElseHasTheName() async throws {
    let scene = try await Scene()
    defer { scene.files.remove() }
    scene.files.hide()
    takeName(scene.name)

    for _ in 0..<2 { try await scene.keeper.apply(scene.configuration) }
    let kept = scene.log.lines.filter {
      $0.hasPrefix("table that lost its name kept in memory until it can be made again")
    }
    #expect(kept.count == 1, "\(scene.log.lines)")

    // The disk is in order again: the older store lies there.
    scene.files.mend()
    rmdir("/dev/shm/shmtable.\(scene.name).ctl")
    let isBack = await comesTrue {
      await scene.keeper.lookAfterTables {}
      return scene.log.lines.contains { $0.hasPrefix("table restored from its store") }
    }
    #expect(isBack, "\(scene.log.lines)")
    #expect(try Table.open(scene.name).get("k", as: String.self) == "only in memory")
    await scene.keeper.stores.stop()
  }

  /// The last sync succeeds, and no table can be made of the file all the same. The only whole copy is in the daemon's memory: it is written to
  /// another file, and the table comes back from that.
  @Test(arguments: [false, true])
  func aTableWhoseStoreHasADamagedRowIsNotThrownAway(isReloaded: Bool) async throws {
    let scene = try await Scene()
    defer { scene.files.remove() }
    #expect(try scene.files.change("another value", to: "a n other value") > 0)
    removeObjects(ofTable: scene.name)

    await scene.keeper.lookAfterTables {}
    #expect(!scene.log.lines.contains { $0.hasPrefix("table restored") }, "\(scene.log.lines)")
    #expect(
      scene.log.lines.contains { $0.hasPrefix("table cannot be had") && $0.contains("do not stop shmd") },
      "\(scene.log.lines)")
    if isReloaded { try await scene.keeper.apply(scene.configuration) }
    await scene.keeper.lookAfterTables {}
    #expect(scene.log.lines.contains { $0.hasPrefix("table restored") }, "\(scene.log.lines)")
    let back = try Table.open(scene.name)
    #expect(try back.get("k", as: String.self) == "only in memory")
    #expect(try back.get("l", as: String.self) == "another value")
    #expect(await scene.keeper.report.troubles == [])
    await scene.keeper.stores.stop()
  }

  /// However well the syncs go: none of them reads that row.
  @Test func aReloadKeepsATableWhoseStoreHasADamagedRowWhileSomethingElseHasTheName() async throws {
    let scene = try await Scene()
    defer { scene.files.remove() }
    #expect(try scene.files.change("another value", to: "a n other value") > 0)
    takeName(scene.name)
    try await scene.keeper.apply(scene.configuration)

    rmdir("/dev/shm/shmtable.\(scene.name).ctl")
    for _ in 0..<2 { await scene.keeper.lookAfterTables {} }
    #expect(scene.log.lines.contains { $0.hasPrefix("table restored") }, "\(scene.log.lines)")
    let back = try Table.open(scene.name)
    #expect(try back.get("k", as: String.self) == "only in memory")
    #expect(try back.get("l", as: String.self) == "another value")
    await scene.keeper.stores.stop()
  }

  /// Each time the table is written and read whole: of a disk that spoils each file that is not asked in each round.
  @Test func aStoreThatIsDamagedAgainIsLookedAtAfterAPause() async throws {
    let scene = try await Scene()
    defer { scene.files.remove() }
    for generation in 1...2 {
      let isWritten = await comesTrue {
        scene.log.lines.filter { $0.hasPrefix("store written anew") }.count == generation
      }
      try #require(isWritten)
      #expect(try scene.files.change("another value", to: "a n other value", generation) > 0)
      removeObjects(ofTable: scene.name)
      await scene.keeper.lookAfterTables {}
    }
    let isWritten = await comesTrue { scene.log.lines.filter { $0.hasPrefix("store written anew") }.count == 3 }
    #expect(isWritten)
    await scene.keeper.lookAfterTables {}
    #expect(!scene.log.lines.contains { $0.hasPrefix("table restored") }, "\(scene.log.lines)")
    try await scene.keeper.apply(scene.configuration)
    #expect(scene.log.lines.contains { $0.hasPrefix("table restored") }, "\(scene.log.lines)")
    #expect(try Table.open(scene.name).get("l", as: String.self) == "another value")
    await scene.keeper.stores.stop()
  }

  /// For want of a thread nothing of what was written last is stored, and an older store lies there.
  @Test(arguments: [false, true])
  func aTableThatHasNoKeeperIsNotThrownAway(isReloaded: Bool) async throws {
    let scene = try await Scene()
    defer { scene.files.remove() }
    let next = try await scene.daemonWithoutThreads()
    for _ in 0..<2 {
      if isReloaded { try await next.apply(scene.configuration) } else { await next.lookAfterTables {} }
    }
    #expect(!scene.log.lines.contains { $0.hasPrefix("table restored") }, "\(scene.log.lines)")
    let troubles = await next.report.troubles
    #expect(troubles.contains { $0.contains("do not stop shmd") }, "\(troubles)")
    var elsewhere = scene.configuration
    elsewhere.storeDirectory = scene.files.directory + "/elsewhere"
    #expect(await next.stores.obstacle(to: elsewhere) != nil)

    scene.threads.areThere = true
    await next.lookAfterTables {}
    #expect(scene.log.lines.contains { $0.hasPrefix("table restored") }, "\(scene.log.lines)")
    #expect(try Table.open(scene.name).get("k", as: String.self) == "by the second daemon")
    #expect(await next.report.troubles == [])
    await next.stores.stop()
  }

  /// A program makes the table while the daemon still stores what was left of the one before.
  @Test func aTableThatAnotherMakesDuringTheLastSyncIsTakenIntoCare() async throws {
    let scene = try await Scene()
    defer { scene.files.remove() }
    let next = try await scene.daemonWithoutThreads()
    let (name, options, threads) = (scene.name, scene.configuration.tables[0].options, scene.threads)
    threads.areThere = true
    threads.whenOneBegins = {
      threads.whenOneBegins = nil
      #expect(throws: Never.self) { _ = try Table.create(name, options) }
    }
    await next.lookAfterTables {}
    #expect(scene.log.lines.contains { $0.hasPrefix("table was made anew by someone else") }, "\(scene.log.lines)")
    #expect(!scene.log.lines.contains { $0.hasPrefix("table cannot be had") }, "\(scene.log.lines)")
    await next.stores.stop()
  }

  /// Another directory has no store of it, so the table would be made empty there.
  @Test func theStoresMayNotMoveWhileATableIsInItsStoreAlone() async throws {
    let scene = try await Scene()
    defer { scene.files.remove() }
    removeObjects(ofTable: scene.name)
    var large = scene.configuration.tables[0]
    large.options.preallocate = true
    large.options.capacityBytes = 1 << 41
    let stores = await scene.keeper.stores
    #expect(#expect(throws: TableError.self) { try stores.restore(large) }?.code == .full)
    var elsewhere = scene.configuration
    elsewhere.storeDirectory = scene.files.directory + "/elsewhere"
    #expect(stores.obstacle(to: elsewhere) != nil)
    let back = try stores.restore(scene.configuration.tables[0])
    #expect(try back?.get("k", as: String.self) == "only in memory")
    #expect(stores.obstacle(to: elsewhere) == nil)
    await stores.stop()
  }

  /// Its keeper was stopped for the last sync, which failed. No thread could be had for another one.
  @Test func aTableWhoseKeeperHasEndedIsStoredWhenThereAreThreads() async throws {
    let scene = try await Scene()
    defer { scene.files.remove() }
    let table = try Table.open(scene.name)
    scene.files.hide()
    scene.threads.areThere = false
    removeObjects(ofTable: scene.name)
    await scene.keeper.lookAfterTables {}
    #expect(table.durableVersion < table.version)

    takeName(scene.name)
    scene.files.mend()
    scene.threads.areThere = true
    await scene.keeper.lookAfterTables {}
    let isStored = await comesTrue { table.durableVersion >= table.version }
    #expect(isStored, "\(scene.log.lines)")
    await scene.keeper.stores.stop()
    rmdir("/dev/shm/shmtable.\(scene.name).ctl")
  }

  /// Its file is damaged, and no thread could be had for the keeper that writes another one: shmd may not end as if all were stored.
  @Test func aStopSaysThatATableWasInMemoryAlone() async throws {
    let scene = try await Scene()
    defer { scene.files.remove() }
    #expect(try scene.files.change("another value", to: "a n other value") > 0)
    scene.threads.areThere = false
    removeObjects(ofTable: scene.name)
    await scene.keeper.lookAfterTables {}
    await scene.keeper.stores.stop()
    #expect(await scene.keeper.stores.unfinished.count == 1)
  }

  @Test func whatIsLostWithATableThatIsLetGoIsSaid() async throws {
    var scene = try await Scene()
    defer { scene.files.remove() }
    scene.files.hide()
    takeName(scene.name)
    scene.configuration.tables = []
    try await scene.keeper.apply(scene.configuration)
    #expect(scene.log.lines.contains { $0.hasPrefix("table that lost its name let go, what was not stored is lost ") })
    #expect(await scene.keeper.report.troubles == [])
    scene.files.mend()
  }

  /// A daemon with a table of which a key's first value is stored, and not its second: that is not due in the test.
  private struct Scene {
    let fixture: DaemonFixture
    let name: String
    let files: StoreFiles
    let log = RecordedLog()
    let threads = Threads()
    let keeper: TableKeeper
    var configuration: Configuration

    /// Whether there are any for keepers.
    final class Threads: Sendable {
      private let state = Mutex(true)
      private let task = Mutex<(@Sendable () -> Void)?>(nil)
      var areThere: Bool {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
      }
      /// What happens just before a keeper begins.
      var whenOneBegins: (@Sendable () -> Void)? {
        get { task.withLock(\.self) }
        set { task.withLock { $0 = newValue } }
      }
    }

    init() async throws {
      fixture = try DaemonFixture()
      name = fixture.tableName()
      files = StoreFiles(directory: fixture.directory + "/stores", table: name)
      keeper = TableKeeper(log: log.logger, stores: Self.makeStores(log, threads))
      configuration = files.configuration
      let table = try Table.create(name, configuration.tables[0].options)
      try await table.set("k", "stored")
      try await table.set("l", "another value")
      try await keeper.apply(configuration)
      let isStored = await comesTrue { table.durableVersion >= table.version }
      try #require(isStored)
      try await table.set("k", "only in memory")
    }

    /// Ends the daemon. The next one has no thread for the table's keeper, so nothing of what is written then is stored; and the table loses its
    /// name.
    func daemonWithoutThreads() async throws -> TableKeeper {
      await keeper.stores.stop()
      threads.areThere = false
      let next = TableKeeper(log: log.logger, stores: Self.makeStores(log, threads))
      try await next.apply(configuration)
      try await Table.open(name).set("k", "by the second daemon")
      removeObjects(ofTable: name)
      return next
    }

    private static func makeStores(_ log: RecordedLog, _ threads: Threads) -> Stores {
      Stores(log: log.logger) { table, mode, directory, report throws(StoreError) in
        // A directory that cannot be had, for want of a thread that cannot.
        threads.whenOneBegins?()
        guard threads.areThere else { throw StoreDirectory("/nonexistent/stores").obstacle! }
        return try StoreKeeper(table, mode, in: directory, report: report)
      }
    }
  }

  /// Somebody removes the table's objects, and puts something else under its name.
  private func takeName(_ name: String) {
    removeObjects(ofTable: name)
    #expect(mkdir("/dev/shm/shmtable.\(name).ctl", 0o700) == 0)
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

import Glibc
import Logging
import SharedMemory
import SharedTable
import TableEngine
import TestSupport
import Testing

@testable import ShmdCore
@testable import TableStore

/// What the daemon says of its stores.
@Suite struct StoreReportTests {
  @Test func aTableWithoutAKeeperHasItsReasonInTheFigures() async throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let log = RecordedLog()
    let stores = Stores(log: log.logger) { _, _, directory, _ throws(StoreError) in throw .wantOfDescriptors(directory)
    }
    var configuration = Configuration(
      file: "f",
      tables: [
        TableConfiguration(
          file: "f", name: name, options: Table.Options(capacityBytes: 1 << 20), durability: .everyBarrier, lines: [:])
      ])
    configuration.storeDirectory = fixture.directory + "/stores"
    // As a daemon that was killed leaves it.
    let table = try Table.create(name, configuration.tables[0].options)
    try table.segment.setKeeping(.kept)
    let keeper = TableKeeper(log: log.logger, stores: stores)
    try await keeper.apply(configuration)
    #expect(table.segment.keeping == .failed)
    try await table.set("k", "not stored")
    let monitor = Monitor(Startup())
    await monitor.take(from: keeper)
    let status = try #require(monitor.sample.stores.first { $0.table == name }?.status)
    #expect(status.error != nil && status.version > status.durable && status.waitingSince != nil)
    let page = try #require(monitor.page("/status.json"))
    #expect(String(decoding: page.body, as: UTF8.self).contains("\"storeProblem\":\"\(fixture.directory)/stores"))
    #expect(monitor.sample.storeTroubles.filter { $0.hasPrefix("'\(name)' is not stored: ") }.count == 1)
    // Whoever stops the daemon to drop the tables must learn of this one, too.
    await stores.stop()
    #expect(stores.unfinished.count == 1 && stores.unfinished[0].hasPrefix("'\(name)' is not stored: "))
  }

  @Test func aDiskThatHangsIsTrouble() {
    var status = StoreStatus()
    #expect(Stores.trouble(of: "a", status) == nil)
    status.busySince = HostClock.monotonicNanoseconds - 30_000_000_000
    #expect(Stores.trouble(of: "a", status)?.hasPrefix("'a' has waited for its store's disk for 3") == true)
    (status.durable, status.version) = (1, 2)
    #expect(Stores.trouble(of: "a", status) == "'a' is stored late")
    status.interval = .seconds(3600)
    #expect(Stores.trouble(of: "a", status)?.hasPrefix("'a' has waited for its store's disk for 3") == true)
  }
}

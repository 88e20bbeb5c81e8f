import Glibc
import ServiceLifecycle
import SharedTable
import TestSupport
import Testing

@testable import ShmdCore

/// A daemon that is to stop while it makes tables.
@Suite struct StoppingTests {
  @Test func aRestoringEndsWhenTheDaemonIsToStopAndTheNextOneMakesTheTable() async throws {
    let fixture = try DaemonFixture()
    let names = [fixture.tableName(), fixture.tableName()]
    let directory = fixture.directory + "/stores"
    defer { _ = try? WorkerProcess.run("/bin/rm", ["-r", directory], timeoutSeconds: 60) }
    var configuration = Configuration(
      file: "f",
      tables: names.map {
        TableConfiguration(
          file: "f", name: $0, options: Table.Options(capacityBytes: 8 << 20), durability: .everyBarrier, lines: [:])
      })
    configuration.storeDirectory = directory
    let first = TableKeeper(log: RecordedLog().logger)
    try await first.apply(configuration)
    for name in names {
      let table = try Table.open(name)
      try await table.barrier { tx in for index in 0..<9000 { try tx.set("key \(index)", index) } }
    }
    await first.stores.stop()
    for name in names { removeObjects(ofTable: name) }

    // The stop comes as soon as the first table is being made.
    let log = RecordedLog()
    let second = TableKeeper(log: log.logger)
    let control = "/dev/shm/shmtable.\(names[0]).ctl"
    try await second.apply(configuration) { if access(control, F_OK) == 0 { second.stopping.open() } }
    #expect(await second.names == [])
    for name in names {
      for part in ["ctl", "data"] { #expect(access("/dev/shm/shmtable.\(name).\(part)", F_OK) != 0) }
    }
    await second.lookAfterTables {}
    #expect(await second.names == [])
    #expect(log.lines == [])
    await second.stores.stop()

    let third = TableKeeper(log: RecordedLog().logger)
    try await third.apply(configuration)
    for name in names { #expect(try Table.open(name).count == 9000) }
    await third.stores.stop()
  }

  /// The services end one after the other, and those before it may wait for a table.
  @Test func theFirstServiceThatEndsTellsTheTableThread() async throws {
    let keeper = TableKeeper(log: RecordedLog().logger)
    let (startup, settings) = (Startup(), Settings(try ConfigurationReader.parse("tables: []\n", file: "f")))
    let service = ReadyService(
      startup: startup, keeper: keeper, status: StatusLine(Notifier(socket: nil), settings, startup),
      log: RecordedLog().logger)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(services: [.init(service: service)], logger: RecordedLog().logger))
    async let end: Void = group.run()
    startup.firstRoundOver.open()
    for server in Startup.Server.allCases { startup.attempted(server).open() }
    await startup.told.wait()
    #expect(!keeper.stopping.isOpen)
    await group.triggerGracefulShutdown()
    try await end
    #expect(keeper.stopping.isOpen)
  }
}

import Glibc
import Logging
import ServiceLifecycle
import TestSupport
import Testing

@testable import ShmdCore

/// What the service manager's `systemctl start` returns upon.
@Suite struct ReadyTests {
  /// Nobody has to try again: at READY all that the configuration names is listened to.
  @Test func whoeverConnectsAtReadyIsServed() throws {
    let fixture = try DaemonFixture()
    let (resp, http) = (fixture.directory + "/resp.sock", fixture.directory + "/run/http.sock")
    defer { unlink(resp) }
    let (free, port) = try listenerOnTCP(loopback)
    close(free)
    try fixture.write(
      """
      interval: 20ms
      tables: [{name: \(fixture.tableName()), capacity: 2MiB}]
      resp: {socket: \(resp), listen: 127.0.0.1:\(port)}
      monitoring: {socket: \(http)}
      """)
    let manager = try NotifySocket(fixture.directory + "/notify")
    for _ in 0..<20 {
      let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
      let ready = try manager.waitFor("READY=1")
      #expect(try RedisClient(loopbackPort: port).call("PING") == "+PONG")
      #expect(try RedisClient(resp).call("PING") == "+PONG")
      #expect(try HTTPClient.get("/ready", at: http).status == 200)
      #expect(ready.hasSuffix("STATUS=1 table"), "\(ready)")
      daemon.signal(SIGTERM)
      #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
    }
  }

  @Test(arguments: ["resp", "monitoring"])
  func aServerThatCannotListenHoldsUpNothingAndIsInTheStatusLine(_ key: String) throws {
    let fixture = try DaemonFixture()
    let (taken, port) = try listenerOnTCP(loopback)
    defer { close(taken) }
    let missing = fixture.directory + "/missing/socket"
    for (place, reason, advice) in [
      ("socket: \(missing)", "cannot listen on \(missing): its directory is not there", "choose another path"),
      ("listen: 127.0.0.1:\(port)", "cannot listen on 127.0.0.1:\(port): ", "choose another address"),
    ] {
      let table = fixture.tableName()
      try fixture.write("interval: 20ms\ntables: [{name: \(table), capacity: 2MiB}]\n\(key): {\(place)}\n")
      let manager = try NotifySocket(fixture.directory + "/notify")
      defer { unlink(manager.address) }
      let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
      let ready = try manager.waitFor("READY=1")
      #expect(ready.contains("STATUS=1 table; '\(key)' is not served: \(reason)"), "\(ready)")
      #expect(ready.contains(advice), "\(ready)")
      try daemon.waitUntilSaid(reason)
      daemon.signal(SIGTERM)
      #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
      // READY came for the failure, and not for want of patience.
      #expect(!daemon.transcript.contains("does not listen yet"), "\(daemon.transcript)")
    }
  }

  /// The READY of a reload would be taken for that of the start.
  @Test func aReloadThatComesDuringTheStartWaitsForItsEnd() throws {
    let fixture = try DaemonFixture()
    let resp = fixture.directory + "/resp.sock"
    defer { unlink(resp) }
    let names = (0..<20).map { _ in fixture.tableName() }
    let tables = names.map { "  - {name: \($0), capacity: 1MiB}" }.joined(separator: "\n")
    try fixture.write("interval: 20ms\nlog-level: debug\nresp: {socket: \(resp)}\ntables:\n\(tables)\n")
    let manager = try NotifySocket(fixture.directory + "/notify")
    let daemon = try fixture.start(environment: ["NOTIFY_SOCKET": manager.address])
    // The other tables are still to be made: the start is far from its end.
    try daemon.waitForLine("table created")
    daemon.signal(SIGHUP)
    try manager.waitFor("READY=1")
    try #require(!manager.messages.contains { $0.hasPrefix("RELOADING=1") }, "\(manager.messages)")
    #expect(try RedisClient(resp).call("PING") == "+PONG")
    try manager.waitFor("RELOADING=1")
    try manager.waitFor("READY=1")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  // MARK: - The service that says it

  @Test(arguments: ["firstRoundOver", "resp", "monitoring"])
  func readyWaitsForAllPartsOfTheStart(_ last: String) async throws {
    let said = try await saidReady { startup, manager in
      for (name, latch) in parts(of: startup) where name != last { latch.open() }
      // Time enough for a READY that does not wait.
      await doesNotComeTrue { manager.hasCome("READY=1") }
      Notifier(socket: manager.address).send("LAST=1")
      parts(of: startup)[last]?.open()
      return await comesTrue { manager.hasCome("READY=1") }
    }
    #expect(said == ["LAST=1", "READY=1\nSTATUS=0 tables"])
  }

  @Test func aServerWhoseFirstAttemptDoesNotEndHoldsUpReadyForABoundedTime() async throws {
    let said = try await saidReady(patience: .milliseconds(10)) { startup, manager in
      startup.attempted(.monitoring).open()
      startup.firstRoundOver.open()
      return await comesTrue { manager.hasCome("READY=1") }
    }
    #expect(said == ["READY=1\nSTATUS=0 tables; 'resp' does not listen yet"])
  }

  @Test(arguments: ["firstRoundOver", "resp"])
  func noReadyIsSaidOfADaemonThatStopsBefore(_ missing: String) async throws {
    let said = try await saidReady { startup, _ in
      for (name, latch) in parts(of: startup) where name != missing { latch.open() }
      return true
    }
    #expect(said == [])
  }

  /// A table that lost its name during the start comes back from its store in the first round, before READY.
  @Test func theFirstRoundAsksForMoreTimeToo() async throws {
    let fixture = try DaemonFixture()
    let manager = try NotifySocket(fixture.directory + "/notify")
    let notifier = Notifier(socket: manager.address)
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let (startup, settings) = (Startup(), Settings(try ConfigurationReader.parse("tables: []\n", file: "f")))
    let service = MaintenanceService(
      keeper: TableKeeper(log: log), settings: settings, startup: startup,
      status: StatusLine(notifier, settings, startup), watchdog: Watchdog(notifier, microseconds: nil),
      timeout: StartTimeout(notifier))
    let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [.init(service: service)], logger: log))
    async let end: Void = group.run()
    await startup.firstRoundOver.wait()
    #expect(manager.hasCome("EXTEND_TIMEOUT_USEC=300000000"))
    await group.triggerGracefulShutdown()
    try await end
  }

  private func parts(of startup: Startup) -> [String: Latch] {
    [
      "firstRoundOver": startup.firstRoundOver, "resp": startup.attempted(.resp),
      "monitoring": startup.attempted(.monitoring),
    ]
  }

  /// Runs the service beside `body`, which returns whether what it waited for has come, and stops it.
  /// - Returns: what the service manager was told.
  private func saidReady(
    patience: Duration = .seconds(3600), _ body: (Startup, NotifySocket) async -> Bool
  ) async throws -> [String] {
    let fixture = try DaemonFixture()
    let manager = try NotifySocket(fixture.directory + "/notify")
    let notifier = Notifier(socket: manager.address)
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let startup = Startup()
    let status = StatusLine(notifier, Settings(try ConfigurationReader.parse("tables: []\n", file: "f")), startup)
    let service = ReadyService(
      startup: startup, keeper: TableKeeper(log: log), status: status, log: log, patience: patience)
    let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [.init(service: service)], logger: log))
    async let end: Void = group.run()
    let isDone = await body(startup, manager)
    #expect(isDone)
    await group.triggerGracefulShutdown()
    try await end
    // What was sent lies in the socket.
    _ = manager.hasCome("READY=1")
    return manager.messages
  }
}

import Glibc
import Testing

@testable import ShmdCore

@Suite struct NotifierTests {
  @Test func withoutAManagerNothingIsSent() {
    #expect(!Notifier(socket: nil).send("READY=1"))
    #expect(!Notifier(socket: "vsock:1").send("READY=1"))
    #expect(!Notifier(socket: "/nonexistent/socket").send("READY=1"))
    #expect(!Notifier(socket: "/" + String(repeating: "x", count: 200)).send("READY=1"))
  }

  /// A manager that is busy for a moment has no room for READY: it would end the daemon after the unit's time for a start.
  @Test func readyIsSaidAgainUntilTheManagerHasIt() throws {
    let socket = try NotifySocket("@shmd-test-\(getpid())-busy")
    let notifier = Notifier(socket: socket.address)
    let status = StatusLine(notifier, Settings(try ConfigurationReader.parse("tables: []\n", file: "f")), Startup())
    let report = KeeperReport(tableCount: 1, troubles: [])
    while notifier.send("WATCHDOG=1") {}
    status.update(report, isReady: true)
    #expect(!socket.hasCome("READY=1"))
    status.update(report)
    #expect(socket.hasCome("READY=1"), "\(socket.messages.suffix(2))")
    let count = socket.messages.count
    status.update(report)
    #expect(!socket.hasCome("none") && socket.messages.count == count)
  }

  /// A reload may end after the daemon was told to stop.
  @Test func nothingIsSaidAfterAStop() throws {
    let socket = try NotifySocket("@shmd-test-\(getpid())-stop")
    let settings = Settings(try ConfigurationReader.parse("tables: []\n", file: "f"))
    let status = StatusLine(Notifier(socket: socket.address), settings, Startup())
    status.beginReload()
    status.stop()
    status.update(KeeperReport(tableCount: 1, troubles: []), isReady: true)
    status.beginReload()
    #expect(!socket.hasCome("READY=1"))
    #expect(socket.messages.map { $0.prefix { $0 != "=" } } == ["RELOADING", "STOPPING"])
  }

  /// systemd ignores longer ones, and would end a daemon whose READY it has not got.
  @Test func aLongStatusIsCut() throws {
    let socket = try NotifySocket("@shmd-test-\(getpid())-long")
    let settings = Settings(try ConfigurationReader.parse("tables: []\n", file: "f"))
    let status = StatusLine(Notifier(socket: socket.address), settings, Startup())
    for length in 3000..<3004 {
      let trouble = String(repeating: "a", count: length % 4) + String(repeating: "ü", count: length)
      status.update(KeeperReport(tableCount: 1, troubles: [trouble]), isReady: true)
      let message = try socket.waitFor("READY=1")
      #expect(message.utf8.count <= 2100 && message.hasSuffix("ü…"), "\(message)")
    }
  }

  @Test func anAbstractSocketIsReached() throws {
    let socket = try NotifySocket("@shmd-test-\(getpid())-abstract")
    #expect(Notifier(socket: socket.address).send("READY=1", "STATUS=fine"))
    #expect(try socket.waitFor("READY=1") == "READY=1\nSTATUS=fine")
  }
}

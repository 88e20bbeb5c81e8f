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

  @Test func anAbstractSocketIsReached() throws {
    let socket = try NotifySocket("@shmd-test-\(getpid())-abstract")
    #expect(Notifier(socket: socket.address).send("READY=1", "STATUS=fine"))
    #expect(try socket.waitFor("READY=1") == "READY=1\nSTATUS=fine")
  }
}

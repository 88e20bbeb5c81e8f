import Glibc
import SharedMemory
import SharedTable
import Testing
import ToolSupport

@testable import ShmdCore
@testable import TableMirror

@Suite struct PartsTests {
  @Test func aTimestampIsCalendarTime() {
    #expect(ServiceLog.timestamp(0) == "1970-01-01T00:00:00.000Z")
    #expect(ServiceLog.timestamp(951_782_400_000_000_000) == "2000-02-29T00:00:00.000Z")
    #expect(ServiceLog.timestamp(1_798_761_599_042_000_000) == "2026-12-31T23:59:59.042Z")
  }

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

  @Test func theAgeOfAMirrorIsThatOfItsReport() throws {
    var report = MirrorReport()
    #expect(MirrorSample(table: "a", report).lagNanoseconds == nil)
    var status = UpstreamStatus(.away, address: "etcd://a:1/p")
    status.revision = 1
    (status.asOf, status.asOfMonotonic) = (HostClock.realtimeNanoseconds, HostClock.monotonicNanoseconds)
    status.asOf -= 5_000_000_000
    report.status = status
    #expect(try #require(MirrorSample(table: "a", report).lagNanoseconds) >= 5_000_000_000)
  }

  @Test func aBoundSocketTellsItsPath() throws {
    let path = "/tmp/shmd-test-\(getpid())-bound"
    let file = try SocketFile.bind(path, mode: 0o600)
    defer {
      file.remove()
      close(file.descriptor)
    }
    #expect(BoundSocket.path(of: file.descriptor) == path)
    let unbound = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let tcp = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    for other in [unbound, tcp, -1] { #expect(BoundSocket.path(of: other) == nil) }
    close(unbound)
    close(tcp)
  }

  @Test func theWatchdogIsOnlyForTheProcessItNames() {
    func microseconds(_ variables: [String: String]) -> UInt64? { Watchdog.microseconds { variables[$0] } }
    #expect(microseconds([:]) == nil)
    #expect(microseconds(["WATCHDOG_USEC": "500"]) == 500)
    #expect(microseconds(["WATCHDOG_USEC": "500", "WATCHDOG_PID": "\(getpid())"]) == 500)
    #expect(microseconds(["WATCHDOG_USEC": "500", "WATCHDOG_PID": "1"]) == nil)
    #expect(microseconds(["WATCHDOG_USEC": "soon"]) == nil)
  }
}

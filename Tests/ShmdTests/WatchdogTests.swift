import Glibc
import Testing

@testable import ShmdCore

@Suite struct WatchdogTests {
  @Test func theWatchdogIsOnlyForTheProcessItNames() {
    func microseconds(_ variables: [String: String]) -> UInt64? { Watchdog.microseconds { variables[$0] } }
    #expect(microseconds([:]) == nil)
    #expect(microseconds(["WATCHDOG_USEC": "500"]) == 500)
    #expect(microseconds(["WATCHDOG_USEC": "500", "WATCHDOG_PID": "\(getpid())"]) == 500)
    #expect(microseconds(["WATCHDOG_USEC": "500", "WATCHDOG_PID": "1"]) == nil)
    #expect(microseconds(["WATCHDOG_USEC": "soon"]) == nil)
  }
}

import Glibc
import SharedMemory
import Testing

@Suite struct LocalSocketTests {
  @Test func whatIsNoPathIsRefused() throws {
    // An abstract name of zero bytes alone, which anybody may take.
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    // Where somebody has it, a connection is seen as well.
    #expect(bound == 0 || errno == EADDRINUSE)
    listen(listener, 4)
    for path in ["", "\0name", "/tmp/a\0b"] {
      #expect(throws: SystemError(call: "connect", errno: EINVAL)) {
        _ = try LocalSocket(connectingTo: path, until: HostClock.monotonicNanoseconds + 1_000_000_000)
      }
    }
    #expect(throws: SystemError(call: "connect", errno: ENAMETOOLONG)) {
      let path = "/" + String(repeating: "x", count: 107)
      _ = try LocalSocket(connectingTo: path, until: HostClock.monotonicNanoseconds + 1_000_000_000)
    }
  }
}

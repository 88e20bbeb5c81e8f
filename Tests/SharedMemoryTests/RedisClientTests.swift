import Glibc
import TestSupport
import Testing

/// The helper itself.
@Suite struct RedisClientTests {
  @Test func aConnectionIsClosedWhenItsServerHasClosedItAndNotWhenItIsSilent() throws {
    try withTemporaryDirectory { directory in
      let listener = try listener("\(directory)/socket")
      let client = try RedisClient("\(directory)/socket", patience: .milliseconds(50))
      let server = accept(listener, nil, nil)
      close(listener)
      #expect(throws: RedisClient.Failure.self) { try client.isClosed() }
      // Also for a process that another test starts at this moment, which may have inherited it.
      shutdown(server, Int32(SHUT_RDWR))
      close(server)
      #expect(try client.isClosed())
    }
  }

  private func listener(_ path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0 && listen(descriptor, 1) == 0)
    return descriptor
  }
}

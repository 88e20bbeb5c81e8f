import Glibc
import HostSockets
import Testing

@Suite struct BoundSocketTests {
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
}

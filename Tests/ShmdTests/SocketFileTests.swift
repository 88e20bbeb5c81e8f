import Glibc
import HostSockets
import TestSupport
import Testing

/// What a server finds at its socket's path.
@Suite struct SocketFileTests {
  @Test func whatAKilledServerLeftIsReplacedAndWhatIsListenedToIsNot() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/socket"
      close(try SocketFile.bind(path, mode: 0o600).descriptor)
      let descriptor = try SocketFile.bind(path, mode: 0o640).descriptor
      defer { close(descriptor) }
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
      #expect(listen(descriptor, 1) == 0)
      #expect(refusal(path).contains("another process listens there"))
      #expect(exists(path))
    }
  }

  @Test func aServerRemovesItsOwnSocketAlone() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/socket"
      let first = try SocketFile.bind(path, mode: 0o600)
      defer { close(first.descriptor) }
      // Somebody has removed it, and another server has made its own.
      unlink(path)
      let second = try SocketFile.bind(path, mode: 0o600)
      defer { close(second.descriptor) }
      first.remove()
      #expect(exists(path))
      second.remove()
      #expect(!exists(path))
    }
  }

  /// A connection of the wrong kind is refused by the kernel, and not for want of a server.
  @Test func aSocketOfAnotherKindThatIsListenedToStays() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/socket"
      let other = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0)
      defer { close(other) }
      #expect(bind(other, path) == 0 && listen(other, 1) == 0)
      #expect(refusal(path).contains("is somebody's"))
      #expect(exists(path))
    }
  }

  /// Where no descriptor is left to ask by, nothing says that nobody listens.
  @Test func atTheLimitOfDescriptorsAListenedSocketStays() async {
    await #expect(processExitsWith: .success) {
      try withTemporaryDirectory { directory in
        let path = "\(directory)/socket"
        let listener = try SocketFile.bind(path, mode: 0o600).descriptor
        #expect(listen(listener, 1) == 0)
        let next = dup(listener)
        close(next)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var tight = rlimit(rlim_cur: rlim_t(next), rlim_max: limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &tight)
        let said = refusal(path)
        let stays = exists(path)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #expect(said.contains("Too many open files"))
        #expect(stays)
      }
    }
  }
}

private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

private func refusal(_ path: String) -> String {
  do {
    close(try SocketFile.bind(path, mode: 0o600).descriptor)
    return "bound"
  } catch {
    return error.description
  }
}

private func bind(_ descriptor: Int32, _ path: String) -> Int32 {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}

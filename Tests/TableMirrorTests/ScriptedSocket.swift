import Glibc
import TestSupport

/// Something at a Unix socket that is no shmd: it answers one connection as a test likes.
final class ScriptedSocket: Sendable {
  enum Step: Sendable {
    /// Sent when something has arrived.
    case answer(String)
    /// Sent so again and again, until the other end has enough.
    case endless(String)
    /// Nothing is read any more, and the connection ends.
    case close
  }

  private let thread: TestThread<(sent: Int, received: String)>

  /// Behind the last step it answers nothing more, and waits for the end of the connection.
  init(_ path: String, steps: [Step]) throws {
    let listener = try Self.listen(at: path)
    // A client that does not come is a failure, and no test that never ends.
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    thread = TestThread {
      let connection = accept(listener, nil, nil)
      close(listener)
      unlink(path)
      guard connection >= 0 else { throw Failure(error: errno) }
      defer { close(connection) }
      return Self.play(steps, connection)
    }
  }

  struct Failure: Error { let error: Int32 }

  /// - Parameter backlog: so many connections, and one more, wait to be accepted.
  static func listen(at path: String, backlog: Int32 = 8) throws -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let failed = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard failed == 0, Glibc.listen(listener, backlog) == 0 else { throw Failure(error: errno) }
    return listener
  }

  /// Ends when the client has ended its connection.
  /// - Returns: how much was sent, and what was received.
  func end() throws -> (sent: Int, received: String) { try thread.join() }

  private static func play(_ steps: [Step], _ connection: Int32) -> (sent: Int, received: String) {
    var (sent, received) = (0, [UInt8]())
    func send(_ text: String) -> Bool {
      let bytes = Array(text.utf8)
      let count = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      sent += max(0, count)
      return count == bytes.count
    }
    func receive() -> Bool {
      var chunk = [UInt8](repeating: 0, count: 65536)
      let count = recv(connection, &chunk, chunk.count, 0)
      received += chunk[..<max(0, count)]
      return count > 0
    }
    for step in steps {
      if case .close = step { return (sent, String(decoding: received, as: UTF8.self)) }
      guard receive() else { break }
      switch step {
      case .answer(let text): _ = send(text)
      case .endless(let text): while send(text) {}
      case .close: break
      }
    }
    while receive() {}
    return (sent, String(decoding: received, as: UTF8.self))
  }
}

import Glibc

/// Speaks RESP to a server on a Unix socket, as a client does, and blocks as one; an answer that does not come within a minute is a failure.
public final class RedisClient {
  private let descriptor: Int32
  private var received: [UInt8] = []

  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public init(_ path: String) throws {
    descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard connected == 0 else { throw Failure(description: "connect \(path): error \(errno)") }
  }

  deinit { close(descriptor) }

  /// Sends nothing more, and goes on to read.
  public func closeSide() { shutdown(descriptor, Int32(SHUT_WR)) }

  public func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure(description: "send: error \(errno)") }
      sent += count
    }
  }

  public func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// Sends one command and reads its answer.
  public func call(_ words: String...) throws -> String { try call(words.map { Array($0.utf8) }) }

  public func call(_ words: [[UInt8]]) throws -> String {
    try send(Self.encode(words))
    return try answer()
  }

  public static func encode(_ words: [[UInt8]]) -> [UInt8] {
    Array("*\(words.count)\r\n".utf8) + words.flatMap { Array("$\($0.count)\r\n".utf8) + $0 + [13, 10] }
  }

  /// One answer in a short form: `+OK`, `-ERR …`, `:1`, `"text"`, `nil`, `[a b]`.
  public func answer() throws -> String {
    let line = try line()
    let rest = String(line.dropFirst())
    switch line.first {
    case "+", "-", ":": return line
    case "_": return "nil"
    case "$", "=":
      guard let count = Int(rest), count >= 0 else { return "nil" }
      let bytes = try take(count + 2).dropLast(2)
      return "\"\(String(decoding: bytes, as: UTF8.self))\""
    case "*", "~", ">", "%":
      guard let count = Int(rest), count >= 0 else { return "nil" }
      let parts = try (0..<(line.first == "%" ? count * 2 : count)).map { _ in try answer() }
      return (line.first == ">" ? ">" : "") + "[\(parts.joined(separator: " "))]"
    default: throw Failure(description: "no answer begins with '\(line)'")
    }
  }

  /// Whether the other end has closed the connection, once all answers are read.
  public func isClosed() throws -> Bool {
    guard received.isEmpty else { return false }
    do { try receive() } catch is Failure { return true }
    return false
  }

  public func line() throws -> String {
    while true {
      if let end = received.firstIndex(of: 10) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<(end - 1)], as: UTF8.self)
      }
      try receive()
    }
  }

  private func take(_ count: Int) throws -> [UInt8] {
    while received.count < count { try receive() }
    defer { received.removeFirst(count) }
    return Array(received[..<count])
  }

  private func receive() throws {
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, 60_000) > 0 else { throw Failure(description: "no answer within a minute") }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { throw Failure(description: "the connection is closed") }
    received += buffer[..<count]
  }
}

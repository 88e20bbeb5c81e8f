import Glibc

/// Speaks RESP to a server on a Unix socket, as a client does, and blocks as one; what does not come in time is a failure.
public final class RedisClient {
  private let descriptor: Int32
  private var received: [UInt8] = []
  private let patience: Duration

  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public init(_ path: String, patience: Duration = .seconds(60)) throws {
    self.patience = patience
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    descriptor = try Self.connect(AF_UNIX, &address, path)
  }

  /// To a server on this host's TCP.
  public init(loopbackPort port: UInt16) throws {
    patience = .seconds(60)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    descriptor = try Self.connect(AF_INET, &address, "port \(port)")
  }

  private static func connect<Address>(_ family: Int32, _ address: inout Address, _ name: String) throws -> Int32 {
    let descriptor = Glibc.socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let size = socklen_t(MemoryLayout<Address>.size)
    let failed = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
    }
    guard failed == 0 else {
      defer { close(descriptor) }
      throw Failure(description: "connect \(name): error \(errno)")
    }
    return descriptor
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
    return try !receive()
  }

  public func line() throws -> String {
    while true {
      if let end = received.firstIndex(of: 10) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<(end - 1)], as: UTF8.self)
      }
      try receiveMore()
    }
  }

  private func take(_ count: Int) throws -> [UInt8] {
    while received.count < count { try receiveMore() }
    defer { received.removeFirst(count) }
    return Array(received[..<count])
  }

  private func receiveMore() throws {
    guard try receive() else { throw Failure(description: "the connection is closed") }
  }

  /// False at the end of what the other end sends.
  private func receive() throws -> Bool {
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, Int32(patience / .milliseconds(1))) > 0 else {
      throw Failure(description: "no answer within \(patience)")
    }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    received += buffer[..<count]
    return true
  }
}

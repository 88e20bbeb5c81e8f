import Glibc
import TestSupport

/// A client of the daemon's pages, down to the bytes: it says what a browser never would.
final class HTTPClient {
  struct Answer {
    let status: Int
    let headers: [String: String]
    let body: String
  }

  /// How long a read may take before it is a failure: far more than any needs.
  private static let patienceSeconds = 60

  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let failure = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard failure == 0 else { throw Failure("connect \(path): error \(errno)") }
  }

  deinit { close(descriptor) }

  /// One request on a connection of its own.
  static func get(_ path: String, at socket: String, method: String = "GET") throws -> Answer {
    let client = try HTTPClient(socket)
    client.send("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return try client.answer()
  }

  /// - Returns: whether the server has taken all of it.
  @discardableResult
  func send(_ text: String) -> Bool {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      bytes = bytes.dropFirst(count)
    }
    return true
  }

  func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// All that comes until the server ends the connection.
  func readToEnd() throws -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      guard count > 0 else { throw Failure("recv: error \(errno), after: \(String(decoding: bytes, as: UTF8.self))") }
      bytes += buffer[..<count]
    }
  }

  func answer() throws -> Answer {
    let text = try readToEnd()
    guard let end = text.firstRange(of: "\r\n\r\n") else { throw Failure("no answer: \(text)") }
    let lines = text[..<end.lowerBound].split(separator: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
      throw Failure("no answer: \(text)")
    }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description
    }
    return Answer(status: status, headers: headers, body: String(text[end.upperBound...]))
  }
}

// What a test tells this process to do as a client of Redis, or as who listens where a server of it should.

import Glibc
import TestSupport

nonisolated(unsafe) var redis: RedisClient?
private nonisolated(unsafe) var listener: Int32 = -1

/// What tests of the server for Redis' clients ask for; nil for any other command.
func redisAnswer(_ words: [String]) throws -> String? {
  switch words[0] {
  case "redis-connect":
    redis = try RedisClient(words[1])
    return "ok"
  case "redis": return try redis!.call(words.dropFirst().map { Array($0.utf8) })
  case "redis-answer": return try redis!.answer()
  // By the library.
  case "upstream-set":
    try table.upstream.set(words[1], words[2])
    return "ok"
  case "listen":
    listener = listen(at: words[1])
    return listener < 0 ? "error \(errno)" : "ok"
  // How many bytes a client sends before it ends its connection.
  case "received":
    let connection = accept(listener, nil, nil)
    defer { close(connection) }
    var chunk = [UInt8](repeating: 0, count: 4096)
    var count = 0
    while case let more = recv(connection, &chunk, chunk.count, 0), more > 0 { count += more }
    return "\(count)"
  default: return nil
  }
}

private func listen(at path: String) -> Int32 {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  let failed = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  return failed == 0 && listen(descriptor, 8) == 0 ? descriptor : -1
}

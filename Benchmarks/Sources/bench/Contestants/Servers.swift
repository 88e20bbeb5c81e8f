import CPeers
import Glibc

/// A server of our own, on a Unix socket in a directory of its own.
final class Server {
  let socket: String
  private let directory: String
  private let process: ChildProcess

  init(_ program: String, _ arguments: (_ socket: String) -> [String]) throws {
    var template = Array("/tmp/bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure("mkdtemp failed") }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    socket = "\(directory)/socket"
    process = try ChildProcess(program, arguments(socket))
    for _ in 0..<1000 where access(socket, F_OK) != 0 { usleep(10_000) }
    guard access(socket, F_OK) == 0 else { throw Failure("\(program) did not make its socket in ten seconds") }
  }

  deinit {
    process.end()
    unlink(socket)
    rmdir(directory)
  }

  static func redis() throws -> Server {
    try Server("redis-server") {
      ["--port", "0", "--unixsocket", $0, "--save", "", "--appendonly", "no", "--loglevel", "warning"]
    }
  }

  static func memcached() throws -> Server {
    try Server("memcached") { ["-s", $0, "-m", "2048", "-u", "root", "-t", "1"] }
  }
}

extension Workload {
  func redis() throws -> (peers: [Peer], client: Owned, server: Server) {
    let server = try Server.redis()
    let client = Owned(redis_connect(server.socket), redis_destroy)
    redis_set_all(client.pointer, keys.baseAddress!, keyCount, value, value.count, 100)
    let peers = [("Redis", 1, 400), ("Redis, pipelined by 100", 100, 4000)].map { name, batch, count in
      Peer(name: name, roundLookups: count) { keys, count in
        // The server is named so that it lives as long as its client.
        withExtendedLifetime(server) {
          Int(redis_get_all(client.pointer, keys, count, Workload.buffer.baseAddress!, batch))
        }
      }
    }
    return (peers, client, server)
  }

  func memcached() throws -> [Peer] {
    let server = try Server.memcached()
    let client = Owned(memcached_connect(server.socket), memcached_destroy)
    memcached_set_all(client.pointer, keys.baseAddress!, keyCount, value, value.count)
    return [("memcached", 1, 400), ("memcached, 100 at once", 100, 4000)].map { name, batch, count in
      Peer(name: name, roundLookups: count) { keys, count in
        withExtendedLifetime(server) {
          Int(memcached_get_all(client.pointer, keys, count, Workload.buffer.baseAddress!, batch))
        }
      }
    }
  }
}

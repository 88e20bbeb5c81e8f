import Glibc
import TestSupport

/// The host's redis-server, which syncs its log before it answers, and redis-benchmark to write to it.
final class RedisServer {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let directory: String
  private let process: WorkerProcess

  static let isInstalled = ["redis-server", "redis-benchmark"].allSatisfy { name in
    unsafe access("/usr/bin/\(name)", X_OK) == 0
  }

  /// Starts it, with its log in the directory that is measured. Returns when it takes connections.
  init(in directory: String) throws {
    self.directory = directory
    process = try WorkerProcess(
      // Ends with this process, however that ends.
      "/usr/bin/setpriv",
      [
        "--pdeathsig", "KILL", "/usr/bin/redis-server", "--port", "0", "--unixsocket", "\(directory)/redis.sock",
        "--dir", directory, "--save", "", "--appendonly", "yes", "--appendfsync", "always",
        "--auto-aof-rewrite-percentage", "0",
      ])
    while !(try process.readLine()).contains("ready to accept connections") {}
  }

  func end() {
    process.kill(SIGTERM)
    _ = try? process.wait()
    _ = try? WorkerProcess.run("/usr/bin/rm", ["-rf", "\(directory)/appendonlydir", "\(directory)/redis.sock"])
  }

  /// - Returns: sets a second of random keys, by so many clients.
  func rate(clients: Int, sets: Int, valueBytes: Int) throws -> Double {
    let answer = try WorkerProcess.run(
      "/usr/bin/redis-benchmark",
      [
        "-s", "\(directory)/redis.sock", "-t", "set", "-c", "\(clients)", "-n", "\(sets)", "-d", "\(valueBytes)", "-r",
        "100000", "--csv",
      ])
    // "SET","4524.89",…
    let fields = answer.output.split(separator: "\n").last { $0.hasPrefix("\"SET\"") }?.split(separator: ",")
    guard let fields, fields.count > 1, let rate = Double(fields[1].filter { $0 != "\"" }) else {
      throw Failure(description: "redis-benchmark: \(answer.output)\(answer.errors)")
    }
    return rate
  }
}

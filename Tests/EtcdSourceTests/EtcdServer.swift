#if Etcd
  import Glibc
  import Synchronization
  import TestSupport

  /// A member of a cluster of one: the host's etcd in a directory of its own, on ports that were free.
  final class EtcdServer {
    let directory: String
    let port: Int
    private let peerPort: Int
    private let options: [String]
    private let scheme: String
    private var process: WorkerProcess?

    static let isInstalled = access("/usr/bin/etcd", X_OK) == 0 && access("/usr/bin/etcdctl", X_OK) == 0

    /// Starts it.
    /// - Parameter options: more options for each start.
    init(scheme: String = "http", _ options: [String] = []) throws {
      var template = Array("/tmp/etcd-test-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw Failure("mkdtemp: error \(errno)") }
      directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      (port, peerPort) = (try Self.freePort(), try Self.freePort())
      self.options = options
      self.scheme = scheme
      try start()
    }

    deinit {
      process?.kill(SIGKILL)
      _ = try? process?.wait()
      _ = try? Self.run("rm", ["-rf", directory])
    }

    var endpoint: String { "127.0.0.1:\(port)" }

    func start() throws {
      let (client, peer) = ("\(scheme)://127.0.0.1:\(port)", "http://127.0.0.1:\(peerPort)")
      let all =
        [
          "--name", "m", "--data-dir", "\(directory)/data", "--listen-client-urls", client, "--advertise-client-urls",
          client,
          "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "m=\(peer)",
          "--log-level", "warn",
        ] + options
      process = try WorkerProcess(
        "/bin/bash", ["-c", "exec /usr/bin/etcd \"$@\" >>\(directory)/log 2>&1", "etcd"] + all, timeoutSeconds: 600)
    }

    /// How it fares, and the end of its log, for who could not get an answer.
    var story: String {
      let log = (try? Self.run("tail", ["-n", "5", "\(directory)/log"])) ?? "no log"
      let isListening = (try? Self.isFree(port)) == false
      return "\(process == nil ? "killed" : "started"), its port \(port) is \(isListening ? "taken" : "free"); \(log)"
    }

    /// Ends it by SIGKILL and waits for that.
    func kill() throws {
      process?.kill(SIGKILL)
      _ = try process?.wait()
      process = nil
    }

    /// Forgets everything that the member had: it comes back as the first one of a new cluster.
    func removeData() throws { _ = try Self.run("rm", ["-rf", "\(directory)/data"]) }

    /// Runs etcdctl on it and returns what it prints.
    @discardableResult
    func control(_ arguments: String...) throws -> String {
      try Self.run("etcdctl", ["--endpoints", "\(scheme)://127.0.0.1:\(port)", "--command-timeout", "30s"] + arguments)
    }

    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> String {
      let (exit, output, errors) = try WorkerProcess.run(
        "/usr/bin/env", [program] + arguments, environment: ["ETCDCTL_API": "3"], timeoutSeconds: 120)
      guard exit == .code(0) else { throw Failure("\(program) \(arguments): \(errors)") }
      return output
    }

    /// Below the ports that the kernel gives to outgoing connections: one of those could have taken the port when the server is started
    /// anew.
    private static let ports = 20_000..<32_000
    private static let handedOut = Atomic(Int(getpid()) &* 97)

    private static func freePort() throws -> Int {
      for _ in ports {
        let place = handedOut.add(1, ordering: .relaxed).newValue
        let port = ports.lowerBound + place % ports.count
        if try isFree(port) { return port }
      }
      throw Failure("no port from \(ports.lowerBound) to \(ports.upperBound) is free")
    }

    private static func isFree(_ port: Int) throws -> Bool {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { throw Failure("socket: error \(errno)") }
      defer { close(descriptor) }
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      name.sin_port = in_port_t(port).bigEndian
      return withUnsafePointer(to: &name) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
    }
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }
#endif

#if Etcd
  import Glibc
  import SharedTable
  import TestSupport

  /// A daemon with an `upstream` in its configuration, of which the table outlives it.
  struct EtcdDaemon {
    let process: WorkerProcess
    /// Where Redis' clients reach it.
    let socket: String

    /// Starts it; its log goes into a file of the server's directory.
    /// - Parameter host: several daemons beside each other are several hosts.
    init(_ server: EtcdServer, _ name: String, durability: String = "none", host: String = "", leases: String = "keep")
      throws
    {
      let directory = server.directory
      let file = "\(directory)/shmd\(host).yaml"
      socket = "\(directory)/redis\(host).socket"
      mkdir("\(directory)/stores\(host)", 0o700)
      try write(
        """
        interval: 20ms
        store-directory: \(directory)/stores\(host)
        resp: {socket: \(socket)}
        tables:
          - name: "\(name)"
            capacity: 64MiB
            mode: "0600"
            durability: \(durability)
            upstream:
              address: etcd://\(server.endpoint)/app/
              check: 100ms
              leases: \(leases)
        """, to: file)
      process = try WorkerProcess(
        "/bin/bash",
        [
          "-c", "exec \"$0\" \"$@\" >>\(directory)/shmd\(host).log 2>&1", WorkerProcess.productDirectory + "/shmd",
          "--config", file, "--runtime-directory", "\(directory)/run\(host)",
        ], timeoutSeconds: 300)
    }

    func kill() throws {
      process.kill(SIGKILL)
      _ = try process.wait()
    }

    /// The table that a daemon makes.
    static func open(_ name: String) async throws -> Table {
      for _ in 0..<6000 {
        if let table = try? Table.open(name) { return table }
        try await Task.sleep(for: .milliseconds(10))
      }
      throw Failure("the daemon has not made the table")
    }
  }
#endif

#if Etcd
  import Glibc
  import SharedTable
  import TestSupport
  import Testing

  /// Writes through etcd and reads of two hosts' tables, by the checker of histories (Reliability/Torture/History).
  @Suite(.serialized, .enabled(if: EtcdServer.isInstalled, "needs etcd-server and etcd-client: make etcd-test"))
  struct HostHistoryTests {
    /// A host: its daemon, which comes and goes, and its table, which stays.
    private final class Host {
      let number: Int
      let name: String
      let server: EtcdServer
      let table: Table
      private(set) var daemon: EtcdDaemon

      init(_ number: Int, _ name: String, _ server: EtcdServer) async throws {
        (self.number, self.name, self.server) = (number, name, server)
        daemon = try EtcdDaemon(server, name, host: "\(number)")
        table = try await EtcdDaemon.open(name)
      }

      var fixture: EtcdFixture { EtcdFixture(table: table, server: server) }

      func kill() throws { try daemon.kill() }
      func start() throws { daemon = try EtcdDaemon(server, name, host: "\(number)") }
    }

    /// How many more writes each client is to have made between two blows.
    private static let writesBetween = 25

    @Test func historiesOfTwoHostsAreThoseOfOneStore() async throws {
      let seed = UInt64.random(in: 0 ... .max)
      let server = try EtcdServer()
      try await withTableName { (first: String) async throws -> Void in
        try await withTableName { (second: String) async throws -> Void in
          let hosts = [try await Host(1, first, server), try await Host(2, second, server)]
          for host in hosts { try await host.fixture.wait { $0.state == .following } }
          try await EtcdUser.with(server) { user in
            let history = HostHistory()
            let threads = clients(history, hosts, seed) + readers(history, hosts)
            async let client: Void = {
              var client = EtcdClient(history: history, process: 100, user: user, random: SplitMix(seed: seed))
              try await client.run()
            }()
            do { try await dealBlows(history, server, hosts) } catch { history.fail("\(error)") }
            history.end()
            for thread in threads { try thread.join() }
            try await client
            let problems = history.problems(try await user.events("app/"))
            #expect(problems.isEmpty, "seed \(seed), \(history.summary): \(problems.prefix(5))")
            for host in hosts { try await host.fixture.expectEqual(user) }
          }
          for host in hosts { try host.kill() }
        }
      }
    }

    private static func processes(_ hosts: [Host]) -> [(host: Host, process: Int)] {
      hosts.flatMap { host in (0..<2).map { (host, host.number * 10 + $0) } }
    }

    private func clients(_ history: HostHistory, _ hosts: [Host], _ seed: UInt64) -> [TestThread<Void>] {
      Self.processes(hosts).map { host, process in
        let (number, socket, table) = (host.number, host.daemon.socket, host.table)
        return TestThread {
          var client = HostClient(
            history, process: process, host: number, socket: socket, table: table, seed: seed &+ UInt64(process))
          try client.run()
        }
      }
    }

    /// Read sections of each table, whether its daemon lives or not.
    private func readers(_ history: HostHistory, _ hosts: [Host]) -> [TestThread<Void>] {
      hosts.map { host in
        let (table, number) = (host.table, host.number)
        return TestThread {
          while !history.isOver {
            try history.readSection(of: table, host: number, process: number)
            // A history of so many that checking it takes no longer than making it.
            usleep(500)
          }
        }
      }
    }

    private func dealBlows(_ history: HostHistory, _ server: EtcdServer, _ hosts: [Host]) async throws {
      let blows: [() async throws -> Void] = [
        {
          try hosts[0].kill()
          try hosts[0].start()
        },
        {
          try server.kill()
          try server.start()
        },
        {
          // Stopped while its clients wait; the other host goes on.
          hosts[1].daemon.process.kill(SIGSTOP)
          try await goOn(history, hosts, only: hosts[0])
          hosts[1].daemon.process.kill(SIGCONT)
        },
        {
          // The daemon dies while etcd is away.
          try server.kill()
          try hosts[1].kill()
          try hosts[1].start()
          try server.start()
        },
      ]
      try await goOn(history, hosts)
      for blow in blows + blows {
        try await blow()
        try await goOn(history, hosts)
      }
    }

    /// Waits until every client has made some more writes.
    private func goOn(_ history: HostHistory, _ hosts: [Host], only host: Host? = nil) async throws {
      let processes = Self.processes(hosts).filter { host == nil || $0.host === host }.map(\.process)
      let wanted = processes.map { (process: $0, count: history.made(by: $0) + Self.writesBetween) }
      guard await comesTrue({ wanted.allSatisfy { history.made(by: $0.process) >= $0.count } }) else {
        throw Failure("clients \(processes) did not get on; \(history.summary)")
      }
    }
  }
#endif

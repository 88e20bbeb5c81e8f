import Glibc
import SharedTable
import TestSupport
import Testing

@testable import RESPServer

/// Rights of other users, groups, and of those who come by TCP.
struct PeerRightsTests {
  /// A client of another user; `groups` are its supplementary ones.
  private func client(_ server: TestServer, user: UInt32, groups: [UInt32]) throws -> WorkerProcess {
    let worker = try WorkerProcess("table-worker", timeoutSeconds: 240)
    try worker.ask("become \(user) groups \(groups.map(String.init).joined(separator: " "))", expecting: "ok")
    try worker.ask("redis-connect \(server.socket)", expecting: "ok")
    return worker
  }

  private func withRules(_ body: (TestServer) throws -> Void) async throws {
    func rule(_ rights: AccessRights, _ adjust: (inout AccessRule) -> Void) -> AccessRule {
      var rule = AccessRule(rights: rights)
      adjust(&rule)
      return rule
    }
    let rules = [
      rule(.read) { $0.users = [54_321] }, rule(.write) { $0.groups = [54_400] },
      rule([.read, .write]) { $0.groups = [54_322] },
      rule([.read, .admin]) { $0.groups = [54_500] },
      rule(.read) { rule in
        rule.groups = [54_501]
        rule.keys = [KeyPattern("open:*")!]
      },
    ]
    try await withServer(
      adjusting: { options in
        options.socketMode = 0o666
        options.access = rules
      }
    ) { server, _ throws in try body(server) }
  }

  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to become other users"))
  func usersAndTheirGroupsHaveWhatRulesGrant() async throws {
    try await withRules { server throws in
      try server.table.set("k", "v")
      // By its user; by a supplementary group besides; by its own group alone; by nothing.
      let reader = try client(server, user: 54_321, groups: [])
      try reader.ask("redis ACL WHOAMI", expecting: "\"uid=54321 gid=54321 groups=54321\"")
      try reader.ask("redis GET k", expecting: "\"v\"")
      #expect(
        try reader.ask("redis SET k w").hasPrefix("-NOPERM uid 54321 may not give 'set': it lacks 'write' for key 'k'"))
      let both = try client(server, user: 54_321, groups: [7, 54_400])
      try both.ask("redis ACL WHOAMI", expecting: "\"uid=54321 gid=54321 groups=54321,7,54400\"")
      try both.ask("redis SET k w GET", expecting: "\"v\"")
      let member = try client(server, user: 54_322, groups: [])
      try member.ask("redis SET k x GET", expecting: "\"w\"")
      let stranger = try client(server, user: 54_323, groups: [7])
      #expect(try stranger.ask("redis GET k").hasPrefix("-NOPERM uid 54323"))
      try stranger.ask("redis PING", expecting: "+PONG")
    }
  }

  /// More groups than a first buffer has room for.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to become other users"))
  func aGroupOfThousandsCounts() async throws {
    try await withRules { server throws in
      let last = try client(server, user: 54_323, groups: Array(60_000..<65_000) + [54_400])
      try last.ask("redis SET k v", expecting: "+OK")
      #expect(try last.ask("redis ACL WHOAMI").hasSuffix(",…\""))
      let none = try client(server, user: 54_323, groups: Array(60_000..<65_000))
      #expect(try none.ask("redis SET k v").hasPrefix("-NOPERM"))
    }
  }

  /// Keys of one user are not told to another's connection, and nobody has it told anything.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to become other users"))
  func connectionsOfOthersAreNotNamed() async throws {
    try await withRules { server throws in
      let (first, second) = (try client(server, user: 54_321, groups: []), try client(server, user: 54_322, groups: []))
      let other = try first.ask("redis CLIENT ID").dropFirst()
      let own = try second.ask("redis CLIENT ID").dropFirst()
      try second.ask(
        "redis CLIENT TRACKING on BCAST REDIRECT \(other)",
        expecting: "-ERR The client ID you want redirect to does not exist")
      try second.ask("redis CLIENT TRACKING on BCAST REDIRECT \(own)", expecting: "+OK")
      #expect(try second.ask("redis CLIENT LIST").hasPrefix("-NOPERM"))
    }
  }

  /// Who administers the server names whom it likes, and has it told no more than that one may know.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to become other users"))
  func whoIsToldInAnothersNameIsToldItsOwnKeys() async throws {
    try await withRules { server throws in
      let listener = try client(server, user: 54_323, groups: [54_501])
      let id = try listener.ask("redis CLIENT ID").dropFirst()
      try listener.ask(
        "redis SUBSCRIBE __redis__:invalidate", expecting: "[\"subscribe\" \"__redis__:invalidate\" :1]")
      let administrator = try client(server, user: 54_324, groups: [54_500])
      try administrator.ask("redis CLIENT TRACKING on BCAST REDIRECT \(id)", expecting: "+OK")
      for key in ["secret", "open:1"] { try server.table.set(key, "v") }
      try listener.ask("redis-answer", expecting: "[\"message\" \"__redis__:invalidate\" [\"open:1\"]]")
    }
  }

  /// Over TCP nothing is known of who connects: rules for anyone are for them, and no others.
  @Test func whoComesByTCPHasWhatAnyoneHas() async throws {
    var open = AccessRule(rights: .read)
    open.isForAnyone = true
    try await withServer(
      adjusting: { options in
        options.listen = .init(host: "127.0.0.1", port: 0)
        options.access = [rule(.write), open]
      }
    ) { server, client throws in
      #expect(try client.call("SET", "k", "v") == "+OK")
      #expect(try client.call("GET", "k") == "\"v\"")
      let stranger = try RedisClient(loopbackPort: UInt16(try #require(server.server.port)))
      #expect(try stranger.call("GET", "k") == "\"v\"")
      #expect(
        try stranger.call("SET", "k", "w").hasPrefix("-NOPERM a client of whom no user is known may not give 'set'"))
      #expect(try stranger.call("ACL", "WHOAMI") == "\"unknown\"")
    }
  }
}

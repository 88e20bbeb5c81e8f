import Glibc
import SharedTable
import TestSupport
import Testing

@testable import RESPServer

/// Rights to some keys: what a client learns of the others, and does to them, which is nothing.
struct KeyRightsTests {
  /// Reads and writes `open:…`, writes `in:…`, reads `exact`; of a second table nothing.
  private static let rules = [
    rule([.read, .write], keys: ["open:*"]), rule(.write, keys: ["in:*"]), rule(.read, keys: ["exact"]),
  ]

  private func withRules(
    and more: AccessRights = [], _ body: (TestServer, RedisClient) throws -> Void
  ) async throws {
    // Of each table, as rules without a name are.
    try await withServer(tables: 2, granting: Self.rules + [rule(more)]) { server, client throws in
      for key in ["open:1", "open:2", "in:1", "exact", "exactly", "secret"] { try server.table.set(key, "old") }
      try body(server, client)
    }
  }

  @Test func patternsAreKeysOrBeginnings() {
    func matches(_ pattern: String, _ key: String) -> Bool? {
      KeyPattern(pattern).map { pattern in Array(key.utf8).withBytes { pattern.matches($0) } }
    }
    #expect(matches("a:*", "a:") == true && matches("a:*", "a:b") == true && matches("a:*", "a") == false)
    #expect(matches("a", "a") == true && matches("a", "ab") == false && matches("a", "") == false)
    #expect(matches("*", "") == true && matches("*", "x") == true)
    #expect(matches("", "x") == nil && matches("a*b", "a*b") == nil && matches("**", "x") == nil)
    #expect(KeyPattern("a:*")?.description == "a:*" && KeyPattern("a")?.description == "a")
  }

  /// Whichever of several keys lacks a right, nothing is done.
  @Test func everyKeyIsChecked() async throws {
    try await withRules { server, client throws in
      for request in [
        "MGET open:1 secret", "EXISTS secret open:1", "TOUCH open:1 exactly", "LCS open:1 secret", "LCS secret open:1",
        "DEL open:1 secret", "UNLINK secret", "MSET open:1 new secret new", "MSETNX open:9 new secret2 new",
        "COPY open:1 secret REPLACE", "COPY secret open:3", "COPY in:1 open:3", "COPY open:1 exact REPLACE",
        "RENAME open:1 secret",
        "RENAME secret open:3", "RENAME exact open:3", "RENAME in:1 open:3", "RENAMENX open:1 secret2",
        "WATCH open:1 secret",
        "GET in:1", "SET exact new", "SET in:1 new GET", "GETEX exact PERSIST", "GETDEL in:1", "EXPIRE in:1 100 NX",
        "INCR in:1",
      ] {
        try client.send(request + "\r\n")
        let answer = try client.answer()
        #expect(answer.hasPrefix("-NOPERM"), "\(request): \(answer)")
        #expect(answer.contains("table '\(server.table.name)'"))
      }
      for key in ["open:1", "open:2", "in:1", "exact", "exactly", "secret"] {
        #expect(try server.table.get(key, as: String.self) == "old", "\(key)")
      }
      #expect(server.table.count == 6)
      for request in [
        "MGET open:1 exact", "COPY exact open:3", "COPY open:1 in:2", "SET in:1 new XX", "RENAME open:3 in:3",
        "DEL in:1 in:2 in:3",
        "EXPIRE in:1 100", "SET open:1 new GET", "WATCH open:1 exact",
      ] {
        try client.send(request + "\r\n")
        let answer = try client.answer()
        #expect(!answer.contains("NOPERM"), "\(request): \(answer)")
      }
    }
  }

  /// The answer is the same whether the key is there or not, and whatever it holds.
  @Test func aRefusalTellsNothingOfAKey() async throws {
    try await withRules { server, client throws in
      try server.table.set("secret", UInt64(7))
      for command in ["GET", "INCR", "TYPE", "TTL", "DEL", "EXISTS", "STRLEN", "PERSIST", "WATCH"] {
        let (there, absent) = (try client.call(command, "secret"), try client.call(command, "absent"))
        #expect(there.hasPrefix("-NOPERM"))
        #expect(there == absent.replacing("'absent'", with: "'secret'"))
      }
      #expect(
        try client.call("GET", "secret")
          == "-NOPERM uid \(geteuid()) may not give 'get': it lacks 'read' for key 'secret' of table "
          + "'\(server.table.name)'; an administrator grants that in 'resp: access'")
      // A key in an error is bounded and one line.
      let long = try client.call("GET", "\r\n\u{1b}[2J" + String(repeating: "x", count: 60_000))
      #expect(long.count < 400 && long.contains("\\x0d\\x0a\\x1b[2J") && long.contains("…'"))
      #expect(try client.call([Array("GET".utf8), [0xFF, 0]]).contains("key '\\xff\\x00'"))
    }
  }

  @Test func onlyKeysThatMayBeReadAreShown() async throws {
    try await withRules { server, client throws in
      func expectShown(_ answers: [String]) {
        let keys = answers[0].filter { !"[]".contains($0) }.split(separator: " ").sorted()
        #expect(keys == ["\"exact\"", "\"open:1\"", "\"open:2\""])
        #expect(answers[1].contains("\"open:1\"") && answers[1].contains("\"exact\""))
        for word in ["in:1", "exactly", "secret"] { #expect(!answers.joined().contains(word), "\(answers)") }
        for answer in answers[2...] { #expect(["\"open:1\"", "\"open:2\"", "\"exact\""].contains(answer)) }
      }
      let requests = ["KEYS *", "SCAN 0 COUNT 10000"] + [String](repeating: "RANDOMKEY", count: 30)
      // In a read section.
      try client.send(requests.joined(separator: "\r\n") + "\r\n")
      expectShown(try requests.map { _ in try client.answer() })
      // In one of a transaction.
      try client.send("MULTI\r\n" + requests.joined(separator: "\r\n") + "\r\nEXEC\r\n")
      for _ in 0...requests.count { _ = try client.answer() }
      let inRead = try client.answer()
      for word in ["in:1", "exactly", "secret"] { #expect(!inRead.contains(word)) }
      // In a barrier that it shares with a write, and in one of a transaction.
      try client.send(RedisClient.encode(["SET", "open:1", "x"].map { Array($0.utf8) }))
      for request in requests {
        try client.send(RedisClient.encode(request.split(separator: " ").map { Array($0.utf8) }))
      }
      #expect(try client.answer() == "+OK")
      expectShown(try requests.map { _ in try client.answer() })
      try client.send("MULTI\r\nSET open:1 x\r\n" + requests.joined(separator: "\r\n") + "\r\nEXEC\r\n")
      for _ in 0...requests.count + 1 { _ = try client.answer() }
      let inBarrier = try client.answer()
      for word in ["in:1", "exactly", "secret"] { #expect(!inBarrier.contains(word)) }
    }
  }

  /// How many keys there are, and how much memory they take, tells of all.
  @Test func figuresAreOfTablesThatMayBeRead() async throws {
    try await withRules { server, client throws in
      #expect(try client.call("DBSIZE").hasPrefix("-NOPERM"))
      let info = try client.call("INFO")
      #expect(!info.contains("db0:") && info.contains("used_memory:0\r\n") && info.contains("maxmemory:0\r\n"))
    }
    try await withRules(and: .read) { server, client throws in
      #expect(try client.call("DBSIZE") == ":6")
      #expect(try client.call("INFO").contains("db0:keys=6"))
    }
  }

  /// A rule that names tables grants nothing in others; the server is administered by who administers all.
  @Test func rulesAreOfTheirTables() async throws {
    try await withServer(
      tables: 2,
      adjusting: { options in
        options.access = [
          rule([.read, .write, .admin], tables: [options.tables[0].name]), rule(.read, keys: ["open:*"]),
        ]
      }
    ) { server, client throws in
      #expect(try client.call("SET", "k", "v") == "+OK")
      #expect(try client.call("SELECT", "1") == "+OK")
      #expect(try client.call("GET", "k").hasPrefix("-NOPERM"))
      #expect(try client.call("GET", "open:k") == "nil")
      #expect(try client.call("FLUSHDB").hasPrefix("-NOPERM"))
      #expect(try client.call("FLUSHALL").hasPrefix("-NOPERM"))
      #expect(try client.call("CONFIG", "SET", "save", "").hasPrefix("-NOPERM"))
      #expect(try client.call("INFO", "keyspace").contains("db0:keys=1"))
      #expect(try client.call("RESET") == "+RESET")
      #expect(try client.call("GET", "k") == "\"v\"")
      #expect(try client.call("FLUSHDB") == "+OK")
    }
  }

  // MARK: - What was not asked for

  /// Who administers tables need not be able to read them.
  @Test func changesOfOtherKeysAreNotTold() async throws {
    try await withRules(and: .admin) { server, client throws in
      #expect(try client.call("CONFIG", "SET", "notify-keyspace-events", "KEA") == "+OK")
      #expect(
        try client.call("SUBSCRIBE", "__keyspace@0__:secret").contains("for the key of channel '__keyspace@0__:secret'")
      )
      #expect(try client.call("SUBSCRIBE", "news", "__keyspace@0__:secret").hasPrefix("-NOPERM"))
      let listener = try server.client()
      _ = try listener.call("PSUBSCRIBE", "*")
      _ = try listener.call("SUBSCRIBE", "__keyevent@0__:set")
      _ = try listener.call("SUBSCRIBE", "__keyspace@0__:open:1")
      for key in ["secret", "in:1", "exactly", "open:1"] { try server.table.set(key, "new") }
      let answers = try (0..<4).map { _ in try listener.answer() }
      #expect(
        answers.sorted() == [
          "[\"message\" \"__keyevent@0__:set\" \"open:1\"]", "[\"message\" \"__keyspace@0__:open:1\" \"set\"]",
          "[\"pmessage\" \"*\" \"__keyevent@0__:set\" \"open:1\"]",
          "[\"pmessage\" \"*\" \"__keyspace@0__:open:1\" \"set\"]",
        ])
      #expect(try client.call("PUBSUB", "NUMSUB", "__keyspace@0__:secret").hasPrefix("-NOPERM"))
      #expect(try client.call("PUBSUB", "NUMSUB", "__keyspace@0__:open:1") == "[\"__keyspace@0__:open:1\" :1]")
    }
  }

  @Test func cachesAreToldOfKeysThatMayBeRead() async throws {
    try await withRules { server, client throws in
      _ = try client.call("HELLO", "3")
      #expect(try client.call("CLIENT", "TRACKING", "ON", "BCAST") == "+OK")
      for key in ["secret", "in:1", "exactly", "open:1"] { try server.table.set(key, "new") }
      #expect(try client.answer() == ">[\"invalidate\" [\"open:1\"]]")
    }
  }

  @Test func channelsOfKeysAreFoundByTheirName() {
    func key(_ channel: String) -> String? {
      Array(channel.utf8).withBytes { ReservedChannel.key(of: $0).map { "\($0.table) \($0.key.text)" } }
    }
    #expect(
      key("__keyspace@0__:k") == "0 k" && key("__keyspace@12__:a__:b") == "12 a__:b" && key("__keyspace@0__:") == "0 ")
    for other in [
      "news", "__keyspace@", "__keyspace@0", "__keyspace@0__", "__keyspace@x__:k", "__keyspace@-1__:k", "__keyspace@_",
    ] {
      #expect(key(other) == nil, "\(other)")
    }
  }
}

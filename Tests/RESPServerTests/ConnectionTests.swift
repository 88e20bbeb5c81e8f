import Glibc
import SharedMemory
import SharedTable
import TableTestSupport
import TestSupport
import Testing

@testable import RESPServer

/// Connections: transactions, channels, waiting, who may connect.
struct ConnectionTests {
  @Test func damageEndsTheConnectionWithRedisWords() async throws {
    try await withServer { _, client throws in
      try client.send("PING\r\n*1\r\n$x\r\n")
      #expect(try client.answer() == "+PONG")
      #expect(try client.answer() == "-ERR Protocol error: invalid bulk length")
      #expect(try client.isClosed())
    }
  }

  @Test func unknownCommands() async throws {
    try await withServer { _, client throws in
      #expect(try client.call("FOO", "a", "b") == "-ERR unknown command 'FOO', with args beginning with: 'a' 'b' ")
      #expect(try client.call("LPUSH", "a", "b").hasPrefix("-ERR unknown command 'LPUSH'"))
    }
  }

  @Test func helloChoosesTheProtocol() async throws {
    try await withServer(tables: 2) { server, client throws in
      #expect(try client.call("GET", "none") == "nil")
      #expect(try client.call("HELLO", "4") == "-NOPROTO unsupported protocol version")
      #expect(try client.call("HELLO", "3", "AUTH", "default", "x", "SETNAME", "me").contains("\"proto\" :3"))
      try client.send("GET none\r\n")
      #expect(try client.line() == "_")
      #expect(try client.call("CLIENT", "GETNAME") == "\"me\"")
      #expect(try client.call("SELECT", "1") == "+OK")
      #expect(try client.call("SELECT", "2") == "-ERR DB index is out of range")
      #expect(try client.call("SET", "k", "v") == "+OK")
      #expect(server.table.count == 0)
      #expect(try client.call("INFO", "keyspace").contains("db1:keys=1"))
      #expect(try client.call("RESET") == "+RESET")
      #expect(try client.call("EXISTS", "k") == ":0")
    }
  }

  /// A place may be another table's after the server's next start; a name is not.
  @Test func aTableIsSelectedByItsName() async throws {
    try await withServer(tables: 2) { server, client throws in
      let second = server.names[1]
      #expect(try client.call("SELECT", "/\(second)") == "+OK")
      #expect(try client.call("SET", "k", "v") == "+OK")
      #expect(try client.call("INFO", "keyspace").contains("db1:keys=1"))
      for unserved in ["/", "/\(second)x", "/1", "//\(second)"] {
        #expect(
          try client.call("SELECT", unserved)
            == "-ERR no table of that name is served here; name it in 'resp: tables'")
      }
      #expect(try client.call("SELECT", second) == "-ERR value is not an integer or out of range")
      // Still the one that was selected.
      #expect(try client.call("GET", "k") == "\"v\"")
      #expect(try client.call("MULTI") == "+OK")
      #expect(try client.call("SELECT", "/\(server.names[0])").hasPrefix("-ERR SELECT of another table inside MULTI"))
      #expect(try client.call("EXEC").hasPrefix("-EXECABORT"))
      #expect(try client.call("MULTI") == "+OK")
      #expect(try client.call("SELECT", "/\(second)") == "+QUEUED")
      #expect(try client.call("EXEC") == "[+OK]")
    }
  }

  @Test func whatOneServerCannotDoIsSaid() async throws {
    try await withServer { _, client throws in
      #expect(try client.call("WAIT", "1", "0") == ":0")
      #expect(try client.call("WAIT", "x", "0") == "-ERR value is not an integer or out of range")
      #expect(try client.call("WAIT", "0", "x") == "-ERR timeout is not an integer or out of range")
      #expect(try client.call("WAIT", "0", "-1") == "-ERR timeout is negative")
      #expect(try client.call("SHUTDOWN", "NOSAVE").hasPrefix("-ERR SHUTDOWN is refused"))
      #expect(try client.call("PING") == "+PONG")
    }
  }

  @Test func repliesAreKeptBack() async throws {
    try await withServer { _, client throws in
      try client.send("CLIENT REPLY SKIP\r\nPING a\r\nPING b\r\n")
      #expect(try client.answer() == "\"b\"")
      try client.send("CLIENT REPLY SKIP\r\nCLIENT REPLY SKIP\r\nPING a\r\nPING b\r\n")
      #expect(try client.answer() == "\"b\"")
      try client.send("CLIENT REPLY OFF\r\nPING c\r\nCLIENT REPLY ON\r\n")
      #expect(try client.answer() == "+OK")
      // Confirmations of subscriptions are messages.
      try client.send("CLIENT REPLY OFF\r\nSUBSCRIBE x\r\nUNSUBSCRIBE x\r\nPING d\r\nCLIENT REPLY ON\r\n")
      #expect(try client.answer() == "[\"subscribe\" \"x\" :1]")
      #expect(try client.answer() == "[\"unsubscribe\" \"x\" :0]")
      #expect(try client.answer() == "+OK")
    }
  }

  /// Whoever watches an absent key, finds it there and stores what depends on that must not store it if the key has gone again.
  @Test func aWatchedKeyThatCameAndWentEndsTheTransaction() async throws {
    try await withServer { server, client throws in
      func exec() throws -> String {
        _ = try client.call("MULTI")
        _ = try client.call("SET", "r", "x")
        return try client.call("EXEC")
      }
      #expect(try client.call("WATCH", "k") == "+OK")
      try server.table.set("k", "1")
      #expect(try client.call("GET", "k") == "\"1\"")
      try server.table.remove("k")
      #expect(try exec() == "nil")
      // Of several, and in another table's name.
      #expect(try client.call("WATCH", "k", "r", "l") == "+OK")
      try server.table.set("l", "1")
      try server.table.remove("l")
      #expect(try exec() == "nil")
      // Others' keys, also with the same beginning, and the removal of what had expired before are no change of it.
      try server.table.set("k", "1", expires: .after(.nanoseconds(1)))
      #expect(eventually { (try? client.call("EXISTS", "k")) == ":0" })
      #expect(try client.call("WATCH", "k") == "+OK")
      try server.table.set("kk", "1")
      try server.table.remove("k")
      #expect(try exec() == "[+OK]")
      // What the log has lost may have been it.
      #expect(try client.call("WATCH", "k") == "+OK")
      for number in 0..<20_000 { try server.table.set("other \(number % 10)", number) }
      #expect(try exec() == "nil")
      #expect(try client.call("WATCH", "k") == "+OK")
      try server.table.set("k", "1")
      try server.table.remove("k")
      #expect(try client.call("UNWATCH") == "+OK")
      #expect(try exec() == "[+OK]")
    }
  }

  // MARK: - Clients

  /// The fields that redis-py reads as numbers, and fails without.
  @Test func clientsAreListedWithAllFields() async throws {
    try await withServer { server, client throws in
      let other = try server.client()
      _ = try other.call("CLIENT", "SETNAME", "other")
      _ = try other.call("MULTI")
      _ = try other.call("GET", "a")
      _ = try client.call("CLIENT", "TRACKING", "ON", "BCAST")
      let lines = try client.call("CLIENT", "LIST").split(separator: "\n").filter { $0.contains("addr=") }
      let fields = lines.map { line in
        Dictionary(
          line.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }.map {
            (String($0[0]), $0.count > 1 ? String($0[1]) : "")
          }, uniquingKeysWith: { $1 })
      }
      for field in fields {
        for name in [
          "age", "idle", "db", "sub", "psub", "multi", "qbuf", "qbuf-free", "obl", "argv-mem", "oll", "omem", "tot-mem",
          "fd", "redir", "resp", "tot-cmds",
        ] {
          #expect(Int(field[name] ?? "") != nil, "\(name) of \(field)")
        }
        #expect(field["laddr"] == "\(server.socket):0")
      }
      let queued = try #require(fields.first { $0["name"] == "other" })
      #expect(queued["multi"] == "1" && queued["cmd"] == "get" && queued["flags"] == "xU" && queued["redir"] == "-1")
      let asking = try #require(fields.first { $0["name"] != "other" })
      #expect(
        asking["multi"] == "-1" && asking["cmd"] == "client" && asking["flags"] == "tBU" && asking["redir"] == "0")
      #expect(try other.call("DISCARD") == "+OK")
      #expect(try client.call("CLIENT", "LIST").contains("multi=-1"))
    }
  }

  @Test func commandsAreCountedUntilTheCountIsReset() async throws {
    try await withServer { server, client throws in
      func statistics() throws -> [String] {
        try client.call("INFO", "stats").split(separator: "\r\n").map(String.init)
      }
      let other = try server.client()
      for _ in 0..<5 { _ = try other.call("PING") }
      #expect(try statistics().contains("total_commands_processed:5"))
      // What an ended connection did still counts.
      #expect(try other.call("QUIT") == "+OK")
      _ = try? other.call("PING")
      #expect(try statistics().contains("total_commands_processed:7"))
      #expect(try client.call("CONFIG", "RESETSTAT") == "+OK")
      let after = try statistics()
      #expect(after.contains("total_commands_processed:1") && after.contains("total_connections_received:0"))
    }
  }

  @Test func settingsAreAskedForByAFewPatterns() async throws {
    try await withServer { _, client throws in
      func ask(_ count: Int) throws -> String {
        try client.call((["CONFIG", "GET"] + Array(repeating: "sav?", count: count)).map { Array($0.utf8) })
      }
      #expect(try ask(64).contains("save"))
      #expect(try ask(65) == "-ERR CONFIG GET takes at most 64 patterns")
    }
  }

  @Test func settingsAreNamedInPairs() async throws {
    try await withServer { _, client throws in
      #expect(try client.call("CONFIG", "SET", "save", "", "timeout") == "-ERR syntax error")
      #expect(
        try client.call("CONFIG", "SET", "NoSuch", "1")
          == "-ERR Unknown option or number of arguments for CONFIG SET - 'NoSuch'")
    }
  }

  @Test func clientsAreKilledByFilters() async throws {
    try await withServer { server, client throws in
      let listener = try server.client()
      _ = try listener.call("SUBSCRIBE", "x")
      let plain = try server.client()
      let id = try plain.call("CLIENT", "ID").dropFirst()
      #expect(try client.call("CLIENT", "KILL", "TYPE", "replica") == ":0")
      #expect(try client.call("CLIENT", "KILL", "ID", String(id), "TYPE", "pubsub") == ":0")
      #expect(try client.call("CLIENT", "KILL", "TYPE", "pubsub") == ":1")
      #expect(try client.call("CLIENT", "KILL", "LADDR", "elsewhere:0") == ":0")
      #expect(try client.call("CLIENT", "KILL", "LADDR", "\(server.socket):0", "ID", String(id)) == ":1")
      #expect(try client.call("CLIENT", "KILL", "USER", "default", "ADDR", "\(server.socket):0") == ":0")
      #expect(try client.call("CLIENT", "KILL", "USER", "somebody", "ID", "1") == "-ERR No such user 'somebody'")
      // They are read one by one: what is wrong with the first is told, though the second lacks its value.
      #expect(try client.call("CLIENT", "KILL", "USER", "somebody", "ID") == "-ERR No such user 'somebody'")
      #expect(try client.call("CLIENT", "KILL", "TYPE", "normal", "ID") == "-ERR syntax error")
      #expect(try client.call("CLIENT", "KILL", "TYPE", "caster", "ID", "1") == "-ERR Unknown client type 'caster'")
      #expect(try client.call("CLIENT", "KILL", "ID", "0") == "-ERR client-id should be greater than 0")
      #expect(try client.call("CLIENT", "KILL", "ID", "1", "SKIPME") == "-ERR syntax error")
      #expect(try client.call("CLIENT", "KILL", "ID", "1", "SKIPME", "perhaps") == "-ERR syntax error")
      // The one that asks is answered before it is ended.
      #expect(try client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no") == ":1")
      #expect(try client.isClosed())
    }
  }

  // MARK: - Transactions

  @Test func execIsOneBarrier() async throws {
    try await withServer { server, client throws in
      #expect(try client.call("MULTI") == "+OK")
      #expect(try client.call("SET", "a", "1") == "+QUEUED")
      #expect(try client.call("INCR", "a") == "+QUEUED")
      #expect(try client.call("SETRANGE", "a", "x", "y") == "+QUEUED")
      #expect(try client.call("DBSIZE") == "+QUEUED")
      let before = server.table.version
      #expect(try client.call("EXEC") == "[+OK :2 -ERR value is not an integer or out of range :1]")
      #expect(server.table.version == before + 1)
      #expect(try client.call("EXEC") == "-ERR EXEC without MULTI")
      _ = try client.call("MULTI")
      #expect(try client.call("NOTHING").hasPrefix("-ERR unknown"))
      #expect(try client.call("EXEC") == "-EXECABORT Transaction discarded because of previous errors.")
      _ = try client.call("MULTI")
      #expect(try client.call("SAVE") == "-ERR Command not allowed inside a transaction")
      #expect(try client.call("EXEC") == "-EXECABORT Transaction discarded because of previous errors.")
    }
  }

  @Test func watchHoldsAgainstParticipants() async throws {
    try await withServer { server, client throws in
      try server.table.set("k", 1)
      #expect(try client.call("WATCH", "k", "absent") == "+OK")
      try server.table.increment("k")
      _ = try client.call("MULTI")
      _ = try client.call("SET", "k", "9")
      #expect(try client.call("EXEC") == "nil")
      #expect(try client.call("GET", "k") == "\"2\"")
      _ = try client.call("WATCH", "k", "absent")
      _ = try client.call("MULTI")
      _ = try client.call("SET", "k", "9")
      #expect(try client.call("EXEC") == "[+OK]")
      _ = try client.call("WATCH", "absent")
      try server.table.set("absent", 1)
      _ = try client.call("MULTI")
      _ = try client.call("GET", "k")
      #expect(try client.call("EXEC") == "nil")
    }
  }

  // MARK: - Channels

  @Test func messagesGoToWhoListens() async throws {
    try await withServer { server, client throws in
      let listener = try server.client()
      #expect(try listener.call("SUBSCRIBE", "news") == "[\"subscribe\" \"news\" :1]")
      #expect(try listener.call("PSUBSCRIBE", "n*") == "[\"psubscribe\" \"n*\" :2]")
      #expect(try listener.call("GET", "k").hasPrefix("-ERR Can't execute 'get'"))
      #expect(try client.call("PUBLISH", "news", "hi") == ":2")
      #expect(try listener.answer() == "[\"message\" \"news\" \"hi\"]")
      #expect(try listener.answer() == "[\"pmessage\" \"n*\" \"news\" \"hi\"]")
      #expect(try client.call("PUBSUB", "NUMSUB", "news") == "[\"news\" :1]")
      #expect(try listener.call("UNSUBSCRIBE") == "[\"unsubscribe\" \"news\" :1]")
      #expect(try client.call("PUBSUB", "CHANNELS") == "[]")
    }
  }

  /// Writes of programs are told as those of clients are.
  @Test func changesOfTheTableArePublished() async throws {
    try await withServer { server, client throws in
      let listener = try server.client()
      #expect(try client.call("CONFIG", "SET", "notify-keyspace-events", "KEA") == "+OK")
      #expect(try client.call("CONFIG", "GET", "notify-*") == "[\"notify-keyspace-events\" \"AKE\"]")
      _ = try listener.call("PSUBSCRIBE", "__key*__:*")
      try server.table.set("k", 1)
      #expect(try listener.answer() == "[\"pmessage\" \"__key*__:*\" \"__keyspace@0__:k\" \"set\"]")
      #expect(try listener.answer() == "[\"pmessage\" \"__key*__:*\" \"__keyevent@0__:set\" \"k\"]")
      _ = try client.call("DEL", "k")
      #expect(try listener.answer() == "[\"pmessage\" \"__key*__:*\" \"__keyspace@0__:k\" \"del\"]")
    }
  }

  @Test func cachesAreToldWhatToForget() async throws {
    try await withServer { server, client throws in
      _ = try client.call("HELLO", "3")
      #expect(try client.call("CLIENT", "TRACKING", "ON").hasPrefix("-ERR CLIENT TRACKING without BCAST"))
      #expect(try client.call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "user.") == "+OK")
      try server.table.set("other", 1)
      try server.table.set("user.1", 1)
      #expect(try client.answer() == ">[\"invalidate\" [\"user.1\"]]")
      // Prefixes add up, and what a barrier changed is one message for each.
      #expect(try client.call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "group.") == "+OK")
      #expect(
        try client.call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "us").contains("an existing prefix 'user.'"))
      try server.table.barrier { (tx: inout Transaction) throws in
        try tx.set("user.2", 1)
        try tx.set("group.1", 1)
        try tx.set("user.3", 1)
      }
      #expect(try client.answer() == ">[\"invalidate\" [\"user.2\" \"user.3\"]]")
      #expect(try client.answer() == ">[\"invalidate\" [\"group.1\"]]")
    }
  }

  @Test func aCacheIsToldWhenWhoListensForItIsGone() async throws {
    try await withServer { server, client throws in
      let listener = try server.client()
      let id = try listener.call("CLIENT", "ID").dropFirst()
      _ = try listener.call("SUBSCRIBE", "__redis__:invalidate")
      _ = try client.call("HELLO", "3")
      #expect(try client.call("CLIENT", "TRACKING", "ON", "BCAST", "REDIRECT", String(id)) == "+OK")
      try server.table.set("k", 1)
      #expect(try listener.answer() == "[\"message\" \"__redis__:invalidate\" [\"k\"]]")
      #expect(try listener.call("QUIT") == "+OK")
      // At once, since a change may have been on its way to it, and again at each change.
      #expect(try client.answer() == ">[\"tracking-redir-broken\" :\(id)]")
      try server.table.set("k", 2)
      #expect(try client.answer() == ">[\"tracking-redir-broken\" :\(id)]")
      #expect(try client.call("CLIENT", "TRACKINGINFO").contains("\"broken_redirect\""))
    }
  }

  // MARK: - Waiting

  /// A barrier that another holds stops writes of its table; reads, and other tables, go on.
  @Test func aHeldBarrierStopsNobodysGet() async throws {
    try await withServer(tables: 2) { server, client throws in
      let other = try server.client()
      _ = try client.call("SET", "k", "v")
      try server.table.barrier { (tx: inout Transaction) throws in
        try client.send("SET k w\r\n")
        #expect(try other.call("GET", "k") == "\"v\"")
        #expect(try other.call("SELECT", "1") == "+OK")
        #expect(try other.call("SET", "k", "elsewhere") == "+OK")
      }
      #expect(try client.answer() == "+OK")
      #expect(try client.call("GET", "k") == "\"w\"")
    }
  }

  /// The same with another process in it, which is stopped.
  @Test func aStoppedProcessInABarrierStopsNobodysGet() async throws {
    try await withServer { server, client throws in
      let other = try server.client()
      _ = try client.call("SET", "k", "v")
      let holder = try worker(server.table)
      try holder.ask("barrier", expecting: "in")
      stop(holder)
      try client.send("SET k w\r\n")
      for _ in 0..<5 { #expect(try other.call("GET", "k") == "\"v\"") }
      holder.kill(SIGKILL)
      // Whoever waits recovers the table from the killed process.
      #expect(try client.answer() == "+OK")
      #expect(try other.call("GET", "k") == "\"w\"")
    }
  }

  /// A client that closes its side is answered first: what waits in a lane too, and what it sent behind that.
  @Test func aHalfClosedClientGetsItsAnswers() async throws {
    try await withServer { server, client throws in
      let other = try server.client()
      try server.table.barrier { (tx: inout Transaction) throws in
        try client.send("SET k w\r\n")
        #expect(try other.call("PING") == "+PONG")
        try client.send("GET k\r\n")
        client.closeSide()
        // By then the server has seen the end.
        for _ in 0..<3 { #expect(try other.call("PING") == "+PONG") }
      }
      #expect(try client.answer() == "+OK")
      #expect(try client.answer() == "\"w\"")
      #expect(try client.isClosed())
      // And one that asks for nothing ends at once.
      other.closeSide()
      #expect(try other.isClosed())
    }
  }

  /// In the rwlock variant a read waits too, and so it goes to the lane.
  @Test func readsOfTheOtherVariantWaitInTheLane() async throws {
    try await withServer(variant: .rwlock) { server, client throws in
      let other = try server.client()
      _ = try client.call("SET", "k", "v")
      try server.table.barrier { (tx: inout Transaction) throws in
        try client.send("GET k\r\n")
        #expect(try other.call("PING") == "+PONG")
        try tx.set("k", "w")
      }
      #expect(try client.answer() == "\"w\"")
    }
  }

  @Test func aTableThatWasMadeAnewIsServed() async throws {
    try await withServer { server, client throws in
      _ = try client.call("SET", "k", "v")
      let name = server.table.name
      try Table.drop(name)
      _ = try Table.create(name, Table.Options(capacityBytes: 4 << 20))
      #expect(try client.call("SET", "k", "w") == "+OK")
      #expect(try Table.open(name).get("k", as: String.self) == "w")
    }
  }

  /// It takes no barrier, and so neither waits for one nor needs a right to write.
  @Test func aTransactionThatChangesNothingIsOfOneSection() async throws {
    try await withServer { server, client throws in
      let other = try server.client()
      _ = try client.call("SET", "k", "v")
      try server.table.barrier { (tx: inout Transaction) throws in
        for command in ["MULTI", "GET k", "DBSIZE", "PING", "ECHO e", "EXEC"] { try client.send(command + "\r\n") }
        for _ in 0..<5 { _ = try client.answer() }
        #expect(try client.answer() == "[\"v\" :1 +PONG \"e\"]")
        #expect(try other.call("PING") == "+PONG")
        try tx.set("k", "w")
      }
    }
  }

  @Test func anIdleClientDoesNotKeepATableWhoseNameIsGone() async throws {
    // Of the second one the test has no handle.
    try await withServer(tables: 2) { server, client throws in
      let name = server.names[1]
      func isMapped() throws -> Bool {
        let maps = String(decoding: try HostFile.bytes("/proc/self/maps", atMost: .max), as: UTF8.self)
        return maps.contains(".\(name).")
      }
      #expect(try client.call("SELECT", "1") == "+OK" && client.call("SET", "k", "v") == "+OK")
      #expect(try isMapped())
      try Table.drop(name)
      let isGone = try eventually { try !isMapped() }
      #expect(isGone)
      #expect(try client.call("GET", "k").hasPrefix("-"))
    }
  }

  // MARK: - Access

  @Test func onlyListedUsersConnect() async throws {
    try await withServer(adjusting: { $0.users = [4_000_000] }) { _, client throws in
      #expect(try client.answer().hasPrefix("-NOPERM user"))
      #expect(try client.isClosed())
    }
  }

  @Test func oneClientTooManyIsTold() async throws {
    try await withServer(adjusting: { $0.mostClients = 1 }) { server, client throws in
      #expect(try client.call("PING") == "+PONG")
      #expect(try server.client().answer() == "-ERR max number of clients reached")
      #expect(try client.call("PING") == "+PONG")
    }
  }

  /// A transaction may wait long for its table. What it watches in another one is looked at once more when it has that.
  @Test func aKeyOfAnotherTableIsWatchedUntilTheTransactionRuns() async throws {
    try await withServer(tables: 2) { server, client throws in
      #expect(try client.call("SET", "watched", "1") == "+OK")
      #expect(try client.call("WATCH", "watched") == "+OK")
      #expect(try client.call("SELECT", "1") == "+OK")
      #expect(try client.call("MULTI") == "+OK")
      #expect(try client.call("SET", "x", "1") == "+QUEUED")
      let (watched, own) = (server.table, try Table.open(server.names[1]))
      try own.barrier { _ throws in
        try client.send("EXEC\r\n")
        // The transaction waits for this barrier.
        #expect(eventually { own.statistics.readers.contains { $0.wait == .barrier } })
        try watched.set("watched", "2")
      }
      #expect(try client.answer() == "nil")
      #expect(try client.call("EXISTS", "x") == ":0")
    }
  }
}

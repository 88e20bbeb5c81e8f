import SharedTable
import TestSupport
import Testing

@testable import RESPServer

/// What one client may make the server hold, or do, has bounds.
@Suite struct BoundsTests {
  @Test func aReplyIsRefusedBeforeItIsTooLarge() async throws {
    try await withServer(adjusting: { $0.largestReply = 10_000 }) { _, client throws in
      let value = String(repeating: "x", count: 4_000)
      let tooLarge = "-ERR the reply would be larger than 1 GiB; ask for less at a time"
      _ = try client.call("SET", "k", value)
      for command in [
        ["GETRANGE", "k", "0", "-1"], ["GETSET", "k", value], ["SET", "k", value, "GET"], ["GETEX", "k"], ["GET", "k"],
      ] {
        #expect(try client.call("MULTI") == "+OK")
        for _ in 0..<5 { #expect(try client.call(command.map { Array($0.utf8) }) == "+QUEUED") }
        let answer = try client.call("EXEC")
        #expect(answer == "[\"\(value)\" \"\(value)\" \(tooLarge) \(tooLarge) \(tooLarge)]", "\(command)")
      }
      // What was not answered was not done.
      #expect(try client.call("APPEND", "k", String(repeating: "y", count: 8_000)) == ":12000")
      for command in [
        ["GETDEL", "k"], ["GETSET", "k", "v"], ["SET", "k", "v", "GET"], ["GETEX", "k", "EX", "100"],
        ["SUBSTR", "k", "0", "-1"],
      ] {
        #expect(try client.call(command.map { Array($0.utf8) }) == tooLarge, "\(command)")
        #expect(try client.call("STRLEN", "k") == ":12000", "\(command)")
        #expect(try client.call("TTL", "k") == ":-1", "\(command)")
      }
    }
  }

  @Test func scanAnswersNoMoreThanThereIsRoomFor() async throws {
    try await withServer(adjusting: { $0.largestReply = 10_000 }) { _, client throws in
      for key in 0..<1000 { _ = try client.call("SET", "key:\(key)", "v") }
      #expect(try client.call("SCAN", "0", "COUNT", "100000").hasPrefix("-ERR the reply would be larger"))
      #expect(try client.call("KEYS", "*").hasPrefix("-ERR the reply would be larger"))
    }
  }

  @Test(arguments: Table.Variant.allCases) func aFullTableOfSmallValuesIsEmptied(_ variant: Table.Variant) async throws
  {
    try await withServer(capacityBytes: 4 << 20, variant: variant) { server, client throws in
      let value = String(repeating: "x", count: 100)
      var count = 0
      while try client.call("SET", "k\(count)", value) == "+OK" { count += 1 }
      #expect(count > 10_000)
      // More deletions than a barrier of a full table has room for: all or none.
      let deleted = try client.call((["DEL"] + (0..<5_000).map { "k\($0)" }).map { Array($0.utf8) })
      let left = server.table.count
      #expect(deleted == ":5000" ? left == count - 5_000 : deleted.hasPrefix("-OOM") && left == count)
      #expect(try client.call("FLUSHALL") == "+OK")
      #expect(try client.call("DBSIZE") == ":0")
      #expect(try client.call("SET", "k", value) == "+OK")
    }
  }

  /// A page in a browser can send this to a port of its host.
  @Test func linesOfHTTPEndTheConnection() async throws {
    try await withServer { server, client throws in
      _ = try client.call("SET", "k", "v")
      for line in ["POST / HTTP/1.1", "post /", "Host: 127.0.0.1:6379"] {
        let other = try server.client()
        try other.send("\(line)\r\n\r\nFLUSHALL\r\n")
        #expect(try other.isClosed(), "\(line)")
      }
      #expect(try client.call("GET", "k") == "\"v\"")
    }
  }

  /// Others could not write meanwhile.
  @Test func whatVisitsManyKeysIsInNoBarrier() async throws {
    try await withServer { server, client throws in
      _ = try client.call("SET", "x", "abc")
      for reading in ["KEYS *", "SCAN 0", "RANDOMKEY", "LCS x x"] {
        let before = server.table.version
        try client.send(encode(["SET a 1", reading, "SET a 2"]))
        for _ in 0..<3 { _ = try client.answer() }
        #expect(server.table.version == before + 2, "\(reading)")
      }
    }
  }

  /// All writers of the host wait for it.
  @Test(arguments: [true, false])
  func ofCommandsThatMayTakeLongALongTransactionCarriesOutTheFirst(writes: Bool) async throws {
    try await withServer(adjusting: { $0.longestTransaction = .zero }) { server, client throws in
      _ = try client.call("SET", "a", "abc")
      let reads = ["KEYS a", "GET a", "KEYS a", "SCAN 0", "RANDOMKEY", "LCS a a", "DBSIZE"]
      let commands = ["MULTI"] + (writes ? ["SET b 1"] : []) + reads + (writes ? ["SET c 2"] : [])
      try client.send(encode(commands))
      for _ in commands { _ = try client.answer() }
      let refused = ["keys", "scan", "randomkey", "lcs", "dbsize"].map {
        "-ERR the transaction has taken a second already, and others wait for it: give '\($0)' outside of MULTI, or "
          + "earlier in it"
      }
      let stored = writes ? ["+OK"] : []
      let expected = stored + ["[\"a\"]", "\"abc\""] + refused + stored
      #expect(try client.call("EXEC") == "[\(expected.joined(separator: " "))]")
      #expect(try client.call("EXISTS", "b", "c") == (writes ? ":2" : ":0"))
    }
  }

  @Test func aTransactionThatIsNotLongCarriesOutAll() async throws {
    try await withServer(adjusting: { $0.longestTransaction = .seconds(3600) }) { server, client throws in
      try client.send(encode(["MULTI", "SET a abc", "KEYS *", "RANDOMKEY", "LCS a a", "DBSIZE", "EXEC"]))
      for _ in 0..<6 { _ = try client.answer() }
      #expect(try client.answer() == "[+OK [\"a\"] \"a\" \"abc\" :1]")
    }
  }

  @Test func aDoubleStaysFinite() async throws {
    try await withServer { server, client throws in
      try server.table.set("d", Double.greatestFiniteMagnitude)
      #expect(try client.call("INCRBYFLOAT", "d", "1.7e308") == "-ERR increment would produce NaN or Infinity")
      #expect(try server.table.get("d", as: Double.self) == .greatestFiniteMagnitude)
    }
  }

  // MARK: - What the server remembers of a client

  /// Many who hold little, and one whose command does not end, or who queues commands, watches keys or listens.
  @Test(arguments: ["a command", "MULTI", "WATCH", "SUBSCRIBE"])
  func whatClientsHoldInSumHasABound(way: String) async throws {
    try await withServer(adjusting: { $0.mostHeldBytes = 1 << 20 }) { server, client throws in
      let refusal =
        "-ERR the server holds too much of what its clients have sent, and most of it is this client's; send less at a time"
      let others = try (0..<3).map { _ in try server.client() }
      let start = Array("*2\r\n$4\r\nECHO\r\n$100000\r\n".utf8)
      for other in others {
        try other.send(start + [UInt8](repeating: 120, count: 80_000))
      }
      let name = [UInt8](repeating: 120, count: 100_000)
      switch way {
      case "a command": try client.send("*1\r\n$\(2 << 20)\r\n")
      case "MULTI": #expect(try client.call("MULTI") == "+OK")
      default: break
      }
      var answer = ""
      for number in 0..<12 {
        let numbered = name + Array("\(number)".utf8)
        let words = way == "MULTI" ? Array("ECHO".utf8) : Array(way.utf8)
        let bytes = way == "a command" ? name : RedisClient.encode([words, numbered])
        // The connection may be ended, with a reason that is still to be read.
        guard (try? client.send(bytes)) != nil else { break }
        if way == "a command" { continue }
        answer = try client.answer()
        if answer.hasPrefix("-") { break }
        #expect(number < 8)
      }
      if !answer.hasPrefix("-") { answer = try client.answer() }
      #expect(answer == refusal)
      #expect(try client.isClosed())
      for other in others {
        try other.send([UInt8](repeating: 120, count: 20_000) + [13, 10])
        #expect(try other.answer().utf8.count == 100_002)
      }
      // What it held is free again.
      let next = try server.client()
      try next.send(start + [UInt8](repeating: 120, count: 100_000) + [13, 10])
      #expect(try next.answer().utf8.count == 100_002)
    }
  }

  /// What the server has beside a short name is many times as much.
  @Test(arguments: [
    (["WATCH"], 20_000, 4), (["SUBSCRIBE"], 10_000, 4), (["PSUBSCRIBE"], 1_000, 4),
    (["CLIENT", "TRACKING", "ON", "BCAST"], 1_000, 990),
  ])
  func namesCountWithWhatTheServerHasBesideThem(command: [String], count: Int, length: Int) async throws {
    try await withServer(adjusting: { $0.mostHeldBytes = 1 << 20 }) { server, client throws in
      _ = try client.call("HELLO", "3")
      // In two halves: one alone may be too much already, but the request itself never is.
      for half in [0..<count / 2, count / 2..<count] {
        let names = half.map { number in
          Array(String(number, radix: 36).utf8)
            + [UInt8](repeating: UInt8(ascii: "_"), count: length - String(number, radix: 36).utf8.count)
        }
        let isTracking = command.count > 1
        let words = isTracking ? names.flatMap { [Array("PREFIX".utf8), $0] } : names
        // The connection may be ended, with a reason that is still to be read.
        guard (try? client.send(RedisClient.encode(command.map { Array($0.utf8) } + words))) != nil else { break }
      }
      var answer = ""
      repeat { answer = try client.answer() } while !answer.hasPrefix("-")
      #expect(
        answer
          == "-ERR the server holds too much of what its clients have sent, and most of it is this client's; send less at a time"
      )
      #expect(try client.isClosed())
      // Who comes next has all room.
      #expect(try server.client().call("SET", "k", "v") == "+OK")
    }
  }

  @Test func namesThatAClientListensToHaveABound() async throws {
    try await withServer { server, client throws in
      let refused = "-ERR too many subscriptions; their names may have 64 MiB a connection"
      let longest = Subscriptions.longestChannel
      let count = Subscriptions.mostBytes / longest
      for number in 0..<count {
        #expect(try call(client, "SUBSCRIBE", number..<number + 1, longest).hasSuffix(" :\(number + 1)]"))
      }
      #expect(try call(client, "SUBSCRIBE", count..<count + 1, longest) == refused)
      #expect(try call(client, "PSUBSCRIBE", 0..<1, 10) == refused)
      // What is given up makes room.
      #expect(try call(client, "UNSUBSCRIBE", 0..<1, longest).hasSuffix(" :\(count - 1)]"))
      #expect(try call(client, "SUBSCRIBE", count..<count + 1, longest).hasSuffix(" :\(count)]"))
      #expect(try client.call("RESET") == "+RESET")
      #expect(try call(client, "SUBSCRIBE", 1..<2, longest).hasSuffix(" :1]"))
    }
  }

  /// Each message is compared with each of them.
  @Test(arguments: [(63, 1024), (64, 512), (128, 341), (Subscriptions.longestPattern, 15)])
  func patternsThatAClientListensToHaveABound(length: Int, count: Int) async throws {
    try await withServer { server, client throws in
      let other = try server.client()
      let refused =
        "-ERR too many patterns; a connection listens to 1024 of fewer than 64 bytes, a longer one counts once more for each 64 bytes"
      #expect(try call(client, "PSUBSCRIBE", 0..<count + 1, length) == refused)
      #expect(try other.call("PUBSUB", "NUMPAT") == ":0")
      #expect(try call(client, "PSUBSCRIBE", 0..<count, length).hasSuffix(" :\(count)]"))
      #expect(try call(client, "PSUBSCRIBE", count..<count + 1, length) == refused)
      #expect(try call(client, "PUNSUBSCRIBE", 0..<1, length).hasSuffix(" :\(count - 1)]"))
      #expect(try call(client, "PSUBSCRIBE", count..<count + 1, length).hasSuffix(" :\(count)]"))
      // Channels cost a message nothing.
      #expect(try call(client, "SUBSCRIBE", 0..<2000, 10).hasSuffix(" :\(count + 2000)]"))
    }
  }

  /// Gives a command for many names of a length, and returns the last answer, or the first that refuses.
  private func call(_ client: RedisClient, _ command: String, _ numbers: Range<Int>, _ length: Int) throws -> String {
    let names = numbers.map { Array("\($0)".utf8) + [UInt8](repeating: 120, count: length - "\($0)".utf8.count) }
    try client.send(RedisClient.encode([Array(command.utf8)] + names))
    var last = ""
    for _ in names {
      last = try client.answer()
      if last.hasPrefix("-") { break }
    }
    return last
  }

  /// The loop compares each message with each pattern.
  @Test func aChannelAndAPatternHaveALongestLength() async throws {
    try await withServer { server, client throws in
      let channel = String(repeating: "c", count: Subscriptions.longestChannel)
      let pattern = "*" + String(repeating: "c", count: Subscriptions.longestPattern - 1)
      let listener = try server.client()
      #expect(try listener.call("PSUBSCRIBE", pattern).hasSuffix(" :1]"))
      #expect(try client.call("PUBLISH", channel, "m") == ":1")
      for command in [["PUBLISH", channel + "c", "m"], ["SUBSCRIBE", channel + "c"]] {
        #expect(
          try client.call(command.map { Array($0.utf8) })
            == "-ERR the name of a channel may have 131072 bytes; this has 131073", "\(command[0])")
      }
      for command in [["PSUBSCRIBE"], ["PUBSUB", "CHANNELS"]] {
        let words = (command + [pattern + "c"]).map { Array($0.utf8) }
        #expect(
          try client.call(words) == "-ERR a pattern of channels may have 4096 bytes; this has 4097", "\(command)")
      }
    }
  }

  @Test func theChannelsOfAllAreToldIfThereIsRoom() async throws {
    try await withServer(adjusting: { $0.largestReply = 10_000 }) { server, client throws in
      let listeners = try (0..<3).map { _ in try server.client() }
      for (number, listener) in listeners.enumerated() {
        _ = try listener.call("SUBSCRIBE", "\(number)" + String(repeating: "x", count: 4_000))
      }
      #expect(try client.call("PUBSUB", "CHANNELS").hasPrefix("-ERR the reply would be larger"))
      #expect(try client.call("PUBSUB", "CHANNELS", "0*").hasPrefix("[\"0xxx"))
    }
  }

  /// While the server looks for a name among many, nobody else is answered.
  @Test func manyLongNamesHoldUpNobody() async throws {
    try await withServer { server, client throws in
      let other = try server.client()
      let start = [UInt8](repeating: 120, count: 6_000)
      let names = (10_000..<19_000).map { start + Array("\($0)".utf8) }
      try client.send(RedisClient.encode([Array("SUBSCRIBE".utf8)] + names))
      for _ in 0..<2 { #expect(try other.call("PING") == "+PONG") }
      for _ in names { _ = try client.answer() }
      try client.send("UNSUBSCRIBE\r\n")
      for _ in 0..<2 { #expect(try other.call("PING") == "+PONG") }
    }
  }

  @Test func keysThatAClientWatchesHaveABound() async throws {
    try await withServer { _, client throws in
      func key(_ number: Int) -> [UInt8] { Array("\(number)".utf8) + [UInt8](repeating: 120, count: 20 << 20) }
      for number in 0..<3 { #expect(try client.call([Array("WATCH".utf8), key(number)]) == "+OK") }
      let refusal = "-ERR too many keys are watched; they may have 64 MiB"
      #expect(try client.call([Array("WATCH".utf8), key(3)]) == refusal)
      #expect(try client.call("UNWATCH") == "+OK")
      #expect(try client.call([Array("WATCH".utf8), key(3)]) == "+OK")
    }
  }

  @Test func prefixesThatAClientTracksHaveABound() async throws {
    try await withServer { _, client throws in
      func track(_ prefixes: [String]) throws -> String {
        let words = ["CLIENT", "TRACKING", "ON", "BCAST"] + prefixes.flatMap { ["PREFIX", $0] }
        return try client.call(words.map { Array($0.utf8) })
      }
      _ = try client.call("HELLO", "3")
      let refusal = "-ERR too many prefixes; a connection tracks 1000, of 1 MiB in all"
      let many = (1_000..<2_000).map { "\($0)" }
      #expect(try track(many + ["x"]) == refusal)
      #expect(try track([String(repeating: "y", count: (1 << 20) + 1)]) == refusal)
      #expect(try track(many) == "+OK")
      #expect(try track(["x"]) == refusal)
    }
  }

  @Test func whatAClientCallsItselfHasABound() async throws {
    try await withServer { _, client throws in
      let (longest, longer) = (String(repeating: "x", count: 1024), String(repeating: "x", count: 1025))
      let refusal = "-ERR names of clients and libraries have at most 1024 bytes"
      #expect(try client.call("CLIENT", "SETNAME", longest) == "+OK")
      #expect(try client.call("CLIENT", "SETNAME", longer) == refusal)
      #expect(try client.call("HELLO", "3", "SETNAME", longer) == refusal)
      for attribute in ["LIB-NAME", "LIB-VER"] {
        #expect(try client.call("CLIENT", "SETINFO", attribute, longest) == "+OK")
        #expect(try client.call("CLIENT", "SETINFO", attribute, longer) == refusal)
      }
      #expect(try client.call("CLIENT", "GETNAME") == "\"\(longest)\"")
    }
  }

  /// What one client sends at once may be many commands that take long. Others have their turn in between.
  @Test func commandsThatTakeLongDoNotKeepOthersWaiting() async throws {
    try await withServer { server, client throws in
      let long = [UInt8](repeating: UInt8(ascii: "a"), count: 2000)
      for key in ["a", "b"] { #expect(try client.call([Array("SET".utf8), Array(key.utf8), long]) == "+OK") }
      let other = try server.client()
      #expect(try other.call("PING") == "+PONG")
      let count = 200
      try client.send(String(repeating: "LCS a b LEN\r\n", count: count) + "EXISTS done\r\n")
      // The first of many is answered: they are under way.
      #expect(try client.answer() == ":2000")
      #expect(try other.call("SET", "done", "1") == "+OK")
      for _ in 1..<count { #expect(try client.answer() == ":2000") }
      #expect(try client.answer() == ":1")
    }
  }

  /// A message that is compared with many patterns may take as long. Fewer are sent at once here than pass without a look at the clock.
  @Test func messagesForManyPatternsDoNotKeepOthersWaiting() async throws {
    try await withServer { server, client throws in
      let (listener, other) = (try server.client(), try server.client())
      let patterns = (1000..<2000).map { Array("*a\($0)".utf8) }
      try listener.send(RedisClient.encode([Array("PSUBSCRIBE".utf8)] + patterns))
      for _ in patterns { _ = try listener.answer() }
      #expect(try other.call("PING") == "+PONG")
      let publish = "PUBLISH \(String(repeating: "a", count: 5000)) m\r\n"
      let count = 30
      try client.send(String(repeating: publish, count: count) + "EXISTS done\r\n")
      #expect(try client.answer() == ":0")
      #expect(try other.call("SET", "done", "1") == "+OK")
      for _ in 1..<count { #expect(try client.answer() == ":0") }
      #expect(try client.answer() == ":1")
    }
  }
}

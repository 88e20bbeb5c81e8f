import SharedTable
import Testing

@testable import RESPServer

/// Commands of strings and keys, each as a client sees it and as the table has it.
struct StringTests {
  @Test func setAndItsOptions() async throws {
    try await withServer { server, client throws in
      #expect(try client.call("SET", "k", "v") == "+OK")
      #expect(try client.call("get", "k") == "\"v\"")
      #expect(try client.call("SET", "k", "w", "NX") == "nil")
      #expect(try client.call("SET", "k", "w", "XX", "GET") == "\"v\"")
      #expect(try client.call("SET", "n", "w", "XX") == "nil")
      #expect(try client.call("SET", "k", "w", "NX", "XX") == "-ERR syntax error")
      #expect(try client.call("SET", "k", "w", "EX", "0") == "-ERR invalid expire time in 'set' command")
      #expect(try client.call("SET", "k", "w", "EX", "x") == "-ERR value is not an integer or out of range")
      #expect(try client.call("SET", "k", "w", "EX", "100") == "+OK")
      #expect(try (1...100).contains(#require(Int(client.call("TTL", "k").dropFirst()))))
      let expiry = try client.call("PEXPIRETIME", "k")
      #expect(try client.call("SET", "k", "x", "KEEPTTL") == "+OK")
      #expect(try client.call("PEXPIRETIME", "k") == expiry)
      #expect(try client.call("SET", "k", "x") == "+OK")
      #expect(try client.call("TTL", "k") == ":-1")
      #expect(try client.call("SET", "k") == "-ERR wrong number of arguments for 'set' command")
    }
  }

  @Test func valuesHaveTheTypesThatProgramsRead() async throws {
    try await withServer { server, client throws in
      let table = server.table
      _ = try client.call("SET", "text", "grün")
      #expect(try table.get("text", as: String.self) == "grün")
      _ = try client.call([Array("SET".utf8), Array("bytes".utf8), [0xFF, 0]])
      #expect(try table.get("bytes", as: [UInt8].self) == [0xFF, 0])
      #expect(try client.call("INCRBY", "number", "41") == ":41")
      #expect(try table.increment("number") == 42)
      #expect(try client.call("GET", "number") == "\"42\"")
      try table.set("half", 0.5)
      try table.set("yes", true)
      #expect(try client.call("MGET", "half", "yes", "none") == "[\"0.5\" \"true\" nil]")
      #expect(try client.call("INCRBYFLOAT", "half", "0.25") == "\"0.75\"")
      #expect(try table.get("half", as: Double.self) == 0.75)
      try table.set("struct", UInt64(7))
      #expect(try client.call("GET", "struct").hasPrefix("-WRONGTYPE"))
      #expect(try client.call("TYPE", "struct") == "+struct")
      #expect(try client.call("RENAME", "struct", "moved") == "+OK")
      #expect(try table.get("moved", as: UInt64.self) == 7)
      #expect(try client.call("EXPIRE", "moved", "100") == ":1")
      #expect(try table.get("moved", as: UInt64.self) == 7)
    }
  }

  @Test func numbersAndParts() async throws {
    try await withServer { _, client throws in
      #expect(try client.call("APPEND", "s", "Hello") == ":5")
      #expect(try client.call("SETRANGE", "s", "7", "x") == ":8")
      #expect(try client.call("GETRANGE", "s", "-3", "-1") == "\"\0\0x\"")
      #expect(try client.call("STRLEN", "s") == ":8")
      #expect(try client.call("SETRANGE", "s", "-1", "x") == "-ERR offset is out of range")
      #expect(try client.call("SETRANGE", "s", "4000000000", "x").hasPrefix("-ERR string exceeds maximum allowed size"))
      #expect(try client.call("INCR", "s") == "-ERR value is not an integer or out of range")
      _ = try client.call("SET", "n", "9223372036854775807")
      #expect(try client.call("INCR", "n") == "-ERR increment or decrement would overflow")
      #expect(try client.call("DECRBY", "n", "-9223372036854775808") == "-ERR decrement would overflow")
      #expect(try client.call("INCRBYFLOAT", "f", "3.0e3") == "\"3000\"")
      #expect(try client.call("INCRBYFLOAT", "f", "1e-1") == "\"3000.10000000000000009\"")
      #expect(try client.call("MSET", "a", "ohmytext", "b", "mynewtext") == "+OK")
      #expect(try client.call("LCS", "a", "b") == "\"mytext\"")
      #expect(
        try client.call("LCS", "a", "b", "IDX", "WITHMATCHLEN")
          == "[\"matches\" [[[:4 :7] [:5 :8] :4] [[:2 :3] [:0 :1] :2]] \"len\" :6]")
      #expect(try client.call("MSETNX", "c", "1", "a", "2") == ":0")
      #expect(try client.call("EXISTS", "a", "a", "c") == ":2")
    }
  }

  /// A collection is several keys: no command changes one of them, be it there or not.
  @Test func collectionsAreReadOnly() async throws {
    try await withServer { server, client throws in
      let users = try SharedDictionary<String, Int>("users", in: server.table)
      try users.set("a", 1)
      try server.table.set("k", "v")
      let element = try #require(
        try server.table.read { view in try view.keys(prefix: "users/") }.map { String(decoding: $0, as: UTF8.self) }
          .first)
      for key in ["users", element, "users/new", "users#0"] {
        for command in [
          ["SET", key, "x"], ["SETNX", key, "x"], ["SETEX", key, "9", "x"], ["PSETEX", key, "9", "x"],
          ["GETSET", key, "x"], ["GETDEL", key], ["GETEX", key, "EX", "9"], ["MSET", "k", "w", key, "x"],
          ["MSETNX", "n", "w", key, "x"], ["APPEND", key, "x"], ["SETRANGE", key, "0", "x"], ["INCR", key],
          ["DECR", key],
          ["INCRBY", key, "2"], ["DECRBY", key, "2"], ["INCRBYFLOAT", key, "2"], ["DEL", key], ["UNLINK", "k", key],
          ["COPY", "k", key, "REPLACE"], ["RENAME", key, "other"], ["RENAME", "k", key], ["RENAMENX", key, "other"],
          ["RENAMENX", "k", key], ["EXPIRE", key, "9"], ["PEXPIRE", key, "9"], ["EXPIREAT", key, "9"],
          ["PEXPIREAT", key, "9"], ["PERSIST", key],
        ] {
          let answer = try client.call(command.map { Array($0.utf8) })
          let isRefused = answer.hasPrefix("-WRONGTYPE key '\(key)'") && answer.contains("collection, 'users'")
          #expect(isRefused, "\(command): \(answer)")
        }
      }
      #expect(try client.call("MULTI") == "+OK")
      #expect(try client.call("DEL", element) == "+QUEUED")
      #expect(try client.call("SET", "k", "w") == "+QUEUED")
      #expect(try client.call("EXEC").hasPrefix("[-WRONGTYPE key '\(element)' belongs to"))
      #expect(try server.table.get("k", as: String.self) == "w")
      #expect(try client.call("GETEX", element) == "\"1\"")
      #expect(try users.keys() == ["a"] && users["a"] == 1)
      #expect(try client.call("COPY", "users", "plain").hasPrefix("-WRONGTYPE key 'users' is a program's collection"))
      #expect(try client.call("COPY", element, "plain") == ":1")
      #expect(try client.call("SET", "user/s", "x") == "+OK")
      #expect(try client.call("FLUSHDB") == "+OK")
      #expect(try client.call("SET", "users/a", "x") == "+OK")
    }
  }

  @Test func keysOfNoAndTooManyBytes() async throws {
    try await withServer { _, client throws in
      #expect(try client.call("GET", "") == "nil")
      #expect(try client.call("DEL", "") == ":0")
      #expect(try client.call("SET", "", "v").hasPrefix("-ERR table"))
      let long = String(repeating: "k", count: 65537)
      #expect(try client.call("GET", long) == "nil")
      #expect(try client.call("SET", long, "v").contains("at most 65536"))
    }
  }

  @Test func expiry() async throws {
    try await withServer { _, client throws in
      _ = try client.call("SET", "k", "v")
      #expect(try client.call("EXPIRE", "k", "100", "XX") == ":0")
      #expect(try client.call("EXPIRE", "k", "100", "NX") == ":1")
      #expect(try client.call("EXPIRE", "k", "50", "GT") == ":0")
      #expect(try client.call("EXPIRE", "k", "50", "LT") == ":1")
      #expect(try client.call("EXPIREAT", "k", "4000000000") == ":1")
      #expect(try client.call("PEXPIRETIME", "k") == ":4000000000000")
      #expect(try client.call("EXPIRE", "k", "9223372036854775807") == "-ERR invalid expire time in 'expire' command")
      #expect(try client.call("PERSIST", "k") == ":1")
      #expect(try client.call("PTTL", "k") == ":-1")
      #expect(try client.call("GETEX", "k", "PX", "100000") == "\"v\"")
      #expect(try client.call("EXPIRE", "k", "-1") == ":1")
      #expect(try client.call("PTTL", "k") == ":-2")
    }
  }

  /// As in Redis.
  @Test func whatChangesAValueKeepsItsExpiryAndWhatReplacesItEndsIt() async throws {
    try await withServer { _, client throws in
      func expiry(of key: String, after command: String) throws -> String {
        #expect(try client.call("SET", "k", "5", "PXAT", "4000000000000") == "+OK")
        _ = try client.call(command.split(separator: " ").map { Array($0.utf8) })
        return try client.call("PEXPIRETIME", key)
      }
      for command in [
        "INCR k", "DECRBY k 2", "INCRBYFLOAT k 0.5", "APPEND k 1", "SETRANGE k 0 7", "GETEX k", "SET k 8 KEEPTTL",
      ] {
        #expect(try expiry(of: "k", after: command) == ":4000000000000", "\(command)")
      }
      for command in ["COPY k new", "RENAME k new", "RENAMENX k newer"] {
        let key = String(command.split(separator: " ")[2])
        #expect(try expiry(of: key, after: command) == ":4000000000000", "\(command)")
      }
      for command in ["SET k 8", "GETSET k 8", "MSET k 8", "PERSIST k", "GETEX k PERSIST"] {
        #expect(try expiry(of: "k", after: command) == ":-1", "\(command)")
      }
    }
  }

  @Test func noExpiryIsLaterThanTheLastOfTheTablesClock() async throws {
    try await withServer { _, client throws in
      _ = try client.call("SET", "k", "v", "EX", "100")
      #expect(try client.call("PEXPIRE", "k", "9999999999999999", "GT") == ":1")
      let last = try client.call("PEXPIRETIME", "k")
      #expect(last == ":\(UInt64.max / 1_000_000)")
      #expect(try client.call("PEXPIRE", "k", "9999999999999999", "GT") == ":0")
      #expect(try client.call("PEXPIREAT", "k", "9223372036854775807", "GT") == ":0")
      #expect(try client.call("PEXPIREAT", "k", "9223372036854775807") == ":1")
      #expect(try client.call("PEXPIRETIME", "k") == last)
    }
  }

  @Test func scanShowsEachKeyOnce() async throws {
    try await withServer(capacityBytes: 16 << 20) { _, client throws in
      for first in stride(from: 0, to: 10_000, by: 500) {
        _ = try client.call((["MSET"] + (first..<first + 500).flatMap { ["key\($0)", "v"] }).map { Array($0.utf8) })
      }
      var seen: [String] = []
      var cursor = "0"
      var calls = 0
      repeat {
        let answer = try client.call("SCAN", cursor, "MATCH", "key*", "COUNT", "100")
        let parts = answer.dropFirst().split(separator: "\"").map(String.init).filter {
          !$0.allSatisfy { " []".contains($0) }
        }
        cursor = parts[0]
        seen += parts.dropFirst()
        calls += 1
      } while cursor != "0"
      #expect(seen.count == 10_000)
      #expect(Set(seen).count == 10_000)
      #expect(calls > 1)
      #expect(try client.call("DBSIZE") == ":10000")
      #expect(try client.call("FLUSHDB") == "+OK")
      #expect(try client.call("DBSIZE") == ":0")
    }
  }

  @Test func aFullTableRefusesAndGoesOn() async throws {
    try await withServer(capacityBytes: 1 << 20) { _, client throws in
      let value = String(repeating: "x", count: 10_000)
      var answer = ""
      var count = 0
      while count < 200, !answer.hasPrefix("-") {
        answer = try client.call("SET", "k\(count)", value)
        count += 1
      }
      #expect(answer == "-OOM command not allowed when used memory > 'maxmemory'.")
      #expect(try client.call("GET", "k0") == "\"\(value)\"")
      // An MSET that finds no room stores nothing of itself.
      #expect(try client.call("MSET", "small", "1", "large", String(repeating: "y", count: 200_000)).hasPrefix("-OOM"))
      #expect(try client.call("EXISTS", "small") == ":0")
      #expect(try client.call("FLUSHALL") == "+OK")
      #expect(try client.call("SET", "k", value) == "+OK")
    }
  }
}

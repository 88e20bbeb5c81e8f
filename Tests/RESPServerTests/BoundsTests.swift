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

  @Test func aDoubleStaysFinite() async throws {
    try await withServer { server, client throws in
      try server.table.set("d", Double.greatestFiniteMagnitude)
      #expect(try client.call("INCRBYFLOAT", "d", "1.7e308") == "-ERR increment would produce NaN or Infinity")
      #expect(try server.table.get("d", as: Double.self) == .greatestFiniteMagnitude)
    }
  }
}

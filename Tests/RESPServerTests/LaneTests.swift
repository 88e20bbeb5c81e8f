import Glibc
import SharedTable
import TestSupport
import Testing

@testable import RESPServer

/// What clients are told while a lane has somebody's session.
@Suite struct LaneTests {
  /// Each table's keys are removed on that table's lane: who writes to another one meanwhile need not wait.
  @Test func whoFlushesAllTablesWaitsOnTheLaneOfEach() async throws {
    try await withServer(tables: 2) { server, client throws in
      let second = try Table.open(server.names[1])
      try second.set("k", "old")
      #expect(try client.call("SET", "k", "old") == "+OK")
      let other = try server.client()
      try second.barrier { _ in
        try client.send("FLUSHALL\r\n")
        // The first table is empty: the second one's turn has come.
        #expect(try eventually { try !server.table.contains("k") })
        #expect(try other.call("SET", "k", "new") == "+OK")
        #expect(try other.call("FLUSHDB") == "+OK")
      }
      #expect(try client.answer() == "+OK")
      #expect(second.count == 0)
      #expect(try client.call("PING") == "+PONG")
    }
  }

  /// Sends a transaction and has it carried out by the table's lane. What is queued behind `words` keeps its barrier open for a while.
  private func execInLane(_ client: RedisClient, _ server: TestServer, _ words: [[String]]) throws {
    let other = try server.client()
    _ = try other.call("SET", "long", String(repeating: "x", count: 3_000))
    #expect(try client.call("MULTI") == "+OK")
    for command in words + [["SET", "last", "1"]] + Array(repeating: ["LCS", "long", "long", "LEN"], count: 2) {
      #expect(try client.call(command.map { Array($0.utf8) }) == "+QUEUED")
    }
    try server.table.barrier { (tx: inout Transaction) throws in
      try client.send(encode(["EXEC"]))
      // By the second answer the loop has seen it, and handed it over.
      for _ in 0..<2 { #expect(try other.call("PING") == "+PONG") }
    }
  }

  @Test func whoGetsAMessageOfATransactionFindsWhatItStored() async throws {
    try await withServer(adjusting: { $0.longestTransaction = .seconds(3600) }) { server, client throws in
      let (listener, reader) = (try server.client(), try server.client())
      _ = try client.call("SET", "k", "old")
      _ = try listener.call("SUBSCRIBE", "changes")
      try execInLane(client, server, [["SET", "k", "new"], ["PUBLISH", "changes", "k"]])
      #expect(try listener.answer() == "[\"message\" \"changes\" \"k\"]")
      #expect(try reader.call("GET", "k") == "\"new\"")
      #expect(try client.answer() == "[+OK :1 +OK :3000 :3000]")
    }
  }

  @Test func whoBeginsToListenGetsTheAnswerBeforeTheFirstMessage() async throws {
    try await withServer(adjusting: { $0.longestTransaction = .seconds(3600) }) { server, client throws in
      let other = try server.client()
      try execInLane(client, server, [["SUBSCRIBE", "changes"]])
      while try other.call("PUBLISH", "changes", "k") == ":0" {}
      #expect(try client.answer() == "[[\"subscribe\" \"changes\" :1] +OK :3000 :3000]")
      #expect(try client.answer() == "[\"message\" \"changes\" \"k\"]")
      #expect(try client.call("PING") == "[\"pong\" \"\"]")
    }
  }
}

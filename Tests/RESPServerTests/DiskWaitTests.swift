import SharedTable
import Synchronization
import TableEngine
import TestSupport
import Testing

@testable import RESPServer

/// WAITAOF. The tests say themselves how far the table's store is.
struct DiskWaitTests {
  private func withStore(
    tables: Int = 1, _ body: (TestServer, RedisClient, Segment) throws -> Void
  ) async throws {
    try await withServer(tables: tables) { server, client throws in
      let segment = try Segment.open(server.table.name, .participant)
      try segment.setKeeping(.kept)
      try body(server, client, segment)
    }
  }

  /// Others are served meanwhile, and their waits answered in the order of their versions.
  @Test func itIsAnsweredWhenTheStoreHasWhatWasStored() async throws {
    try await withStore { server, client, segment throws in
      let other = try server.client()
      _ = try client.call("SET", "k", "v")
      let first = server.table.version
      try client.send("WAITAOF 1 0 0\r\nGET k\r\n")
      #expect(try other.call("SET", "k", "w") == "+OK")
      try other.send("WAITAOF 1 0 0\r\n")
      let third = try server.client()
      // By then the server waits for both.
      for _ in 0..<3 { #expect(try third.call("GET", "k") == "\"w\"") }
      #expect(try third.call("WAITAOF", "1", "0", "0") == "[:1 :0]")
      try segment.publishDurable(first)
      #expect(try client.answer() == "[:1 :0]")
      // What came behind it was not carried out before.
      #expect(try client.answer() == "\"w\"")
      #expect(try third.call("SET", "k", "x") == "+OK")
      try third.send("WAITAOF 1 0 1\r\n")
      #expect(try third.answer() == "[:0 :0]")
      #expect(try third.call("WAITAOF", "0", "0", "0") == "[:0 :0]")
      try segment.publishDurable(server.table.version)
      #expect(try other.answer() == "[:1 :0]")
      #expect(try third.call("WAITAOF", "0", "0", "0") == "[:1 :0]")
    }
  }

  /// Whatever wrote: a batch, a transaction, a flush; in whichever table.
  @Test(arguments: ["SET k v", "MULTI\r\nSET k v\r\nEXEC", "FLUSHDB", "FLUSHALL", "SET k v\r\nSELECT 1"])
  func everyWriteCounts(_ write: String) async throws {
    try await withStore(tables: write == "FLUSHALL" ? 1 : 2) { server, client, segment throws in
      try server.table.set("k", "old")
      try client.send(write + "\r\nWAITAOF 1 0 1\r\n")
      var answers = [try client.answer()]
      while !answers.last!.hasSuffix(":0]") { answers.append(try client.answer()) }
      #expect(answers.last == "[:0 :0]", "\(answers)")
      try segment.publishDurable(server.table.version)
      #expect(try client.call("WAITAOF", "1", "0", "0") == "[:1 :0]")
    }
  }

  @Test func whatWillNotBeStoredIsNotWaitedFor() async throws {
    try await withStore { server, client, segment throws in
      _ = try client.call("SET", "k", "v")
      try client.send("WAITAOF 1 0 0\r\n")
      let other = try server.client()
      for _ in 0..<3 { #expect(try other.call("PING") == "+PONG") }
      try segment.setKeeping(.failed)
      #expect(try client.answer().contains("its store has failed"))
      try segment.setKeeping(.none)
      #expect(try client.call("WAITAOF", "1", "0", "0").contains("no store keeps this table"))
      #expect(try client.call("WAITAOF", "0", "1", "0") == "[:0 :0]")
      #expect(try client.call("PING") == "+PONG")
    }
  }

  /// The table's name leads to nothing any more: no store will take what was stored.
  @Test func aDroppedTableIsNotWaitedFor() async throws {
    try await withStore { server, client, segment throws in
      _ = try client.call("SET", "k", "v")
      try client.send("WAITAOF 1 0 0\r\n")
      #expect(try server.client().call("PING") == "+PONG")
      try Table.drop(server.table.name)
      let answer = try client.answer()
      #expect(answer.contains("no such table"), "\(answer)")
    }
  }

  /// A client that goes ends nobody else's wait, and one that closes its side is answered first.
  @Test func waitsOutliveClients() async throws {
    try await withStore { server, client, segment throws in
      let other = try server.client()
      _ = try other.call("SET", "k", "w")
      do {
        let gone = try server.client()
        _ = try gone.call("SET", "k", "v")
        try gone.send("WAITAOF 1 0 0\r\n")
        #expect(try client.call("PING") == "+PONG")
      }
      try other.send("WAITAOF 1 0 0\r\n")
      other.closeSide()
      for _ in 0..<3 { #expect(try client.call("PING") == "+PONG") }
      try segment.publishDurable(server.table.version)
      #expect(try other.answer() == "[:1 :0]")
      #expect(try other.isClosed())
      #expect(eventually { (try? client.call("INFO", "clients").contains("connected_clients:1\r\n")) == true })
    }
  }

  @Test func mistakesAreNamed() async throws {
    try await withStore { _, client, _ throws in
      #expect(try client.call("WAITAOF", "x", "0", "0") == "-ERR value is not an integer or out of range")
      #expect(try client.call("WAITAOF", "2", "0", "0") == "-ERR value is out of range, value must between 0 and 1")
      #expect(try client.call("WAITAOF", "1", "-1", "0") == "-ERR value is out of range, must be positive")
      #expect(try client.call("WAITAOF", "1", "0", "-1") == "-ERR timeout is negative")
      #expect(try client.call("WAITAOF", "1", "0", "x") == "-ERR timeout is not an integer or out of range")
      #expect(try client.call("MULTI") == "+OK")
      #expect(try client.call("WAITAOF", "1", "0", "0").hasPrefix("-ERR WAITAOF inside MULTI"))
    }
  }
}

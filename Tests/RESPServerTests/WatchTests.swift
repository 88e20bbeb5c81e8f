import SharedTable
import TestSupport
import Testing

@Suite struct WatchTests {
  @Test func aTransactionIsCarriedOutInATableThatWasMadeAnew() async throws {
    try await withServer { server, client throws in
      let name = server.table.name
      for watches in [false, true] {
        _ = try client.call("SET", "k", "v")
        if watches { #expect(try client.call("WATCH", "k") == "+OK") }
        #expect(try client.call("MULTI") == "+OK")
        #expect(try client.call("SET", "k", "w") == "+QUEUED")
        let before = try Table.open(name).version
        try Table.drop(name)
        let table = try Table.create(name, Table.Options(capacityBytes: 4 << 20))
        // The key has the version that the watched one had.
        while table.version < before { try table.set("k", "u") }
        // What was seen in the table before says nothing of this one.
        #expect(try client.call("EXEC") == (watches ? "nil" : "[+OK]"))
        #expect(try table.get("k", as: String.self) == (watches ? "u" : "w"))
        #expect(try client.call("EXEC") == "-ERR EXEC without MULTI")
      }
    }
  }

  @Test func anAbsentKeyCountsFromItsOwnWatchOn() async throws {
    try await withServer { server, client throws in
      func exec() throws -> String {
        _ = try client.call("MULTI")
        _ = try client.call("GET", "other")
        return try client.call("EXEC")
      }
      _ = try client.call("WATCH", "a")
      try server.table.set("b", 1)
      try server.table.remove("b")
      _ = try client.call("WATCH", "b", "a")
      _ = try client.call("WATCH", "b")
      #expect(try exec() == "[nil]")
      for key in ["a", "b"] {
        _ = try client.call("WATCH", "a")
        _ = try client.call("WATCH", "b")
        _ = try client.call("WATCH", "a", "b")
        try server.table.set(key, 1)
        try server.table.remove(key)
        #expect(try exec() == "nil", "\(key)")
      }
      #expect(try exec() == "[nil]")
    }
  }
}

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

  /// A transaction that only reads has no barrier, and its client depends on the watched keys all the same.
  @Test func aTransactionThatOnlyReadsIsNotCarriedOutEither() async throws {
    try await withServer { server, client throws in
      try server.table.set("k", "v")
      for change in ["w", nil] {
        #expect(try client.call("WATCH", "k") == "+OK")
        if let change { try server.table.set("k", change) }
        _ = try client.call("MULTI")
        _ = try client.call("GET", "k")
        #expect(try client.call("EXEC") == (change == nil ? "[\"w\"]" : "nil"))
      }
    }
  }

  /// However a transaction ends, the next one depends on none of its keys.
  @Test(arguments: [
    ["MULTI", "EXEC"], ["MULTI", "DISCARD"], ["UNWATCH"], ["MULTI", "NOTHING", "EXEC"], ["MULTI", "EXEC now"],
    ["RESET"],
  ])
  func whatEndsATransactionEndsItsWatches(_ commands: [String]) async throws {
    try await withServer { server, client throws in
      try server.table.set("k", 1)
      for key in ["k", "absent"] {
        #expect(try client.call("WATCH", key) == "+OK")
        for command in commands { _ = try client.call(command.split(separator: " ").map { Array($0.utf8) }) }
        try server.table.increment(key)
        #expect(try client.call("MULTI") == "+OK")
        _ = try client.call("SET", "other", "v")
        #expect(try client.call("EXEC") == "[+OK]", "\(key)")
      }
    }
  }
}

import SharedTable
import TestSupport
import Testing

@testable import RESPServer

/// Commands that come together: in order, and in one section or barrier.
struct BurstTests {
  @Test func aBurstIsAnsweredInOrder() async throws {
    try await withServer { server, client throws in
      let before = server.table.version
      try client.send(encode((0..<200).flatMap { ["SET k\($0) \($0)", "GET k\($0)"] }))
      for index in 0..<200 {
        #expect(try client.answer() == "+OK")
        #expect(try client.answer() == "\"\(index)\"")
      }
      // Barriers are shared: 200 writes took far fewer.
      #expect(server.table.version - before < 100)
    }
  }

  /// Reads that follow each other share a section; an error takes back its own answer, and what is no such read ends the section.
  @Test(arguments: [Table.Variant.rcu, .rwlock]) func aBurstOfReadsIsAnsweredInOrder(_ variant: Table.Variant)
    async throws
  {
    try await withServer(variant: variant) { server, client throws in
      try server.table.set("k", "v")
      try server.table.set("point", UInt64(7))
      let long = String(repeating: "x", count: 600_000)
      try server.table.set("long", long)
      let words = [
        "GET k", "GET none", "GET point", "STRLEN k", "KEYS k", "EXISTS k none k", "GET", "TYPE k", "PING", "GET long",
        "GET long", "GET k", "SET k w", "GET k", "MGET k point none", "GET k",
      ]
      try client.send(encode(words) + Array("GET k\r\n".utf8))
      let wrongType = "-WRONGTYPE Operation against a key holding the wrong kind of value"
      let answers = [
        "\"v\"", "nil", wrongType, ":1", "[\"k\"]", ":2", "-ERR wrong number of arguments for 'get' command", "+string",
        "+PONG", "\"\(long)\"", "\"\(long)\"", "\"v\"", "+OK", "\"w\"", "[\"w\" nil nil]", "\"w\"", "\"w\"",
      ]
      for (word, answer) in zip(words + ["inline GET k"], answers) { #expect(try client.answer() == answer, "\(word)") }
    }
  }

  /// What has arrived is looked at ahead of its turn: wherever it ends, the rest comes to the same.
  @Test func aBurstThatComesInPiecesIsAnsweredAlike() async throws {
    try await withServer { server, client throws in
      let words = ["SET k 1", "INCR n", "GET k", "GET", "APPEND k 2", "GET k", "PING", "GET none", "DEL k n"]
      let burst = encode(words) + Array("*0\r\nSET k inline\r\n\r\n".utf8) + encode(["GETDEL k"])
      let answers = [
        "+OK", ":1", "\"1\"", "-ERR wrong number of arguments for 'get' command", ":2", "\"12\"", "+PONG", "nil", ":2",
        "+OK",
        "\"inline\"",
      ]
      let other = try server.client()
      for end in 1..<burst.count {
        try client.send(Array(burst[..<end]))
        _ = try other.call("PING")
        try client.send(Array(burst[end...]))
        for answer in answers { #expect(try client.answer() == answer, "cut at \(end)") }
      }
    }
  }

  /// A write that finds no room is tried once more in a barrier of its own, and what is behind it, which was looked at already, follows.
  @Test func aBurstThatFillsTheTableIsAnsweredWhole() async throws {
    try await withServer(capacityBytes: 1 << 20) { server, client throws in
      let value = String(repeating: "x", count: 10_000)
      try client.send(encode((0..<200).flatMap { ["SET k\($0) \(value)", "EXISTS k\($0)"] }))
      var stored = 0
      for _ in 0..<200 {
        let answer = try client.answer()
        if answer == "+OK" { stored += 1 } else { #expect(answer.hasPrefix("-OOM")) }
        #expect(try client.answer() == (answer == "+OK" ? ":1" : ":0"))
      }
      #expect(stored > 40 && stored < 110)
      #expect(server.table.count == stored)
      #expect(try client.call("GET", "k0") == "\"\(value)\"")
    }
  }

  /// What a barrier replaces takes room until its end. A command that has answered something when it finds no room is carried out anew in another
  /// barrier, and answered once.
  @Test func whatFoundNoRoomIsAnsweredOnce() async throws {
    try await withServer(capacityBytes: 1 << 20) { server, client throws in
      func value(_ letter: Character) -> String { String(repeating: letter, count: 20_000) }
      var count = 0
      while try client.call("SET", "k\(count)", value("a")) == "+OK" { count += 1 }
      // There is room for a few of seven new values that one burst brings.
      _ = try client.call("DEL", "k10")
      try client.send(encode((0..<7).map { "SET k\($0) \(value("b")) GET" } + ["PING"]))
      for _ in 0..<7 { #expect(try client.answer() == "\"\(value("a"))\"") }
      #expect(try client.answer() == "+PONG")
      for key in 0..<7 { #expect(try server.table.get("k\(key)", as: String.self) == value("b")) }
      // A transaction has one barrier. An array of too few elements would take the next answers for its own.
      let pings = [String](repeating: "PING", count: 7)
      try client.send(encode(["MULTI"] + (0..<7).map { "SET k\($0) \(value("c"))" } + ["EXEC"] + pings))
      for answer in ["+OK"] + [String](repeating: "+QUEUED", count: 7) { #expect(try client.answer() == answer) }
      let executed = try client.answer()
      try #require(executed.hasPrefix("[+OK ") && executed.contains("-OOM") && !executed.contains("PONG"))
      for _ in pings { #expect(try client.answer() == "+PONG") }
    }
  }

  /// They share a section, though another thread writes all the while. One that lasts a millisecond ends, and the clock is looked at after
  /// sixteen reads behind the first one: fifty reads are of three moments at most, even if the server does not get on between them.
  @Test func readsOfABurstAreOfFewMoments() async throws {
    try await withServer { server, client throws in
      let table = server.table
      try table.set("text", "0")
      let writer = TestThread {
        var number = 0
        while try !table.contains("end") {
          number += 1
          try table.set("text", "\(number)")
        }
      }
      defer {
        _ = try? table.set("end", true)
        writer.joinQuietly()
      }
      let burst = encode(Array(repeating: "GET text", count: 50))
      var seen: Set<String> = []
      try goOn(until: { seen.count >= 50 }) {
        try client.send(burst)
        var answers: Set<String> = []
        for _ in 0..<50 { answers.insert(try client.answer()) }
        #expect(answers.count <= 3)
        seen.formUnion(answers)
      }
      #expect(seen.count >= 50)
    }
  }
}

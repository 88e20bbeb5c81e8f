import SharedTable
import Synchronization
import TableMirror
import TableTestSupport
import TestSupport
import Testing
import UpstreamWrites

/// Writes of Redis' clients to a table that mirrors another store: they go there, and are answered when the table shows them.
@Suite struct ForwardTests {
  @Test(arguments: Table.Variant.allCases)
  func eachKindOfCommandChangesTheStoreAndIsReadBack(variant: Table.Variant) async throws {
    let store = FakeStore()
    store.commit([("app/old", "1"), ("other/old", "kept")])
    try await MirroredHost.with(variant, store: store) { host in
      try await host.expect([
        "SET k v": "+OK",
        "GET k": "\"v\"",
        "SET k w XX GET": "\"v\"",
        "SET k x NX": "nil",
        "GET k": "\"w\"",
      ])
      try await host.expect([
        "INCR n": ":1",
        "INCRBY n 40": ":41",
        "DECR n": ":40",
        "INCRBYFLOAT n 0.5": "\"40.5\"",
        "GET n": "\"40.5\"",
      ])
      try await host.expect([
        "SETNX k y": ":0",
        "SETNX new y": ":1",
        "GETSET new z": "\"y\"",
        "GETDEL new": "\"z\"",
        "GETDEL new": "nil",
      ])
      try await host.expect([
        "APPEND k more": ":5",
        "SETRANGE k 1 OR": ":5",
        "STRLEN k": ":5",
        "GETEX k": "\"wORre\"",
      ])
      try await host.expect([
        "MSET a 1 b 2": "+OK",
        "MSETNX b 3 c 3": ":0",
        "MSETNX c 3 d 4": ":1",
        "MGET a b c d": "[\"1\" \"2\" \"3\" \"4\"]",
      ])
      try await host.expect([
        "RENAME a e": "+OK",
        "RENAMENX e b": ":0",
        "COPY e f": ":1",
        "DEL e f nothing": ":2",
        "EXISTS e f": ":0",
      ])
      try await host.expect([
        "INCR k": "-ERR value is not an integer or out of range",
        "RENAME nothing x": "-ERR no such key",
        "PERSIST k": ":0",
      ])
      for (key, value) in ["k": "wORre", "n": "40.5", "b": "2", "c": "3", "d": "4", "old": "1"] {
        #expect(store.value("app/\(key)") == value)
      }
      #expect(try host.fixture.contents.count == 6)
      try await host.expect([
        "FLUSHDB": "+OK",
        "DBSIZE": ":1",
        "SET k 1": "+OK",
        "FLUSHALL": "+OK",
        "DBSIZE": ":1",
        "FLUSHDB ASYNC": "+OK",
      ])
      #expect(store.value("other/old") == "kept")
      #expect(store.state.withLock(\.values).count == 1)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func noIncrementOfTwoHostsIsLost(variant: Table.Variant) async throws {
    try await MirroredHost.with(variant) { one in
      try await MirroredHost.with(variant, store: one.fixture.store) { other in
        let sums = try await withThrowingTaskGroup(of: [String].self) { group in
          for host in [one, other, one, other] {
            group.addTask {
              try await host.talk { client in try (0..<50).map { _ in try client.call("INCR", "n") } }
            }
          }
          return try await group.reduce(into: []) { $0 += $1 }
        }
        // Each sum was somebody's: no two have seen the same value before.
        #expect(Set(sums) == Set((1...200).map { ":\($0)" }))
        #expect(one.fixture.store.value("app/n") == "200")
      }
    }
  }

  @Test func whatTheStoreChangedMeanwhileIsEvaluatedAnew() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      store.commit([("app/n", "1"), ("app/gone", "1")])
      try await host.fixture.wait(for: 2)
      store.once(before: "n") { store.commit([("app/n", "10")]) }
      try await host.expect([
        "INCR n": ":11",
        "GET n": "\"11\"",
      ])
      // A key that was removed has no revision any more.
      store.once(before: "gone") { store.commit([("app/gone", nil)]) }
      try await host.expect([
        "APPEND gone x": ":1"
      ])
      // One that came.
      store.once(before: "lock") { store.commit([("app/lock", "theirs")]) }
      try await host.expect([
        "SETNX lock mine": ":0",
        "GET lock": "\"theirs\"",
      ])
      // What changes nothing is asked for, too: the lock is free, and the table does not show it yet.
      store.once(before: "lock") { store.commit([("app/lock", nil)]) }
      try await host.expect([
        "SETNX lock mine": ":1",
        "GET lock": "\"mine\"",
      ])
      // Nothing was read for it: nothing can be in the way.
      let before = store.state.withLock(\.commits.count)
      store.state.withLock { $0.beforeCommit = { _ in store.commit([("app/n", "0")]) } }
      try await host.expect([
        "SET n 5": "+OK",
        "GET n": "\"5\"",
      ])
      #expect(store.state.withLock(\.commits.count) == before + 1)
    }
  }

  /// As one with a lease that has expired in the table, and lives over there.
  @Test func aKeyThatTheTableDoesNotShowIsNotTakenForFree() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      try await host.fixture.wait(for: store.commit([("app/lock", "theirs")]))
      try host.fixture.table.mirrorBarrier { tx throws(TableError) in
        _ = try unsafe Array("lock".utf8).withKeyBytes { key throws(TableError) in try unsafe tx.take(key) }
      }
      let answer = try await host.answer("SETNX lock mine")
      #expect(answer.hasPrefix("-MIRRORBUSY"), "\(answer)")
      #expect(store.value("app/lock") == "theirs")
    }
  }

  /// Its mirror may be another's by now, to which nothing of what this table shows is known.
  @Test func aTableThatHasLostItsNameWritesNothing() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      try await host.expect(["SET k v": "+OK"])
      let before = store.state.withLock(\.commits.count)
      try Table.drop(host.fixture.table.name)
      let answer = try await host.answer("SET k w")
      // By then its mirror may have found it out, too.
      #expect(answer.hasPrefix("-ERR") || answer.hasPrefix("-MIRRORAWAY"), "\(answer)")
      #expect(store.state.withLock(\.commits.count) == before)
    }
  }

  @Test func aTransactionIsOneRevisionAndSeesItself() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      store.commit([("app/b", "1")])
      try await host.fixture.wait(for: 2)
      try await host.expect(
        "[+OK :2 \"2\" +string :-1 :1 :0 :1 :1 +OK -ERR value is not an integer or out of range [\"2\" nil \"2\" \"y\"]]",
        last: "MULTI", "SET a 1", "INCR a", "GET a", "TYPE a", "TTL a", "DEL b", "EXISTS b", "COPY a c", "INCR x",
        "SET x y", "INCR x", "MGET a b c x", "EXEC")
      #expect(store.state.withLock(\.revision) == 3)
      #expect(try host.fixture.contents == ["a": "2", "c": "2", "x": "y"])
      // A conflict undoes all of its answers.
      store.once(before: "a") { store.commit([("app/a", "7")]) }
      try await host.expect("[:8 +OK]", last: "MULTI", "INCR a", "SET d 1", "EXEC")
      try await host.expect(
        "[+OK :0 +OK :0 \"v\"]", last: "MULTI", "FLUSHDB", "EXISTS a", "SET k v", "DEL a", "GET k", "EXEC")
      #expect(try host.fixture.contents == ["k": "v"])
      // A key that is stored and removed is looked at, too: it is still in the table, and gone over there.
      try await host.fixture.wait(for: store.commit([("app/t", "1")]))
      let tries = store.state.withLock(\.commits.count)
      store.once(before: "t") { store.commit([("app/t", nil)]) }
      try await host.expect("[+OK :1]", last: "MULTI", "SET t 1", "DEL t", "EXEC")
      #expect(store.state.withLock(\.commits.count) == tries + 2)
      try await host.expect(["EXISTS t": ":0"])
      // What is removed that never was leaves nothing to wait for.
      try await host.expect("[+OK :1]", last: "MULTI", "SET t 1", "DEL t", "EXEC")
      // Of reads alone none goes there.
      let before = store.state.withLock(\.commits.count)
      let reads = try await host.answers(["MULTI", "GET k", "KEYS *", "EXEC"])
      #expect(reads[3].hasPrefix("[\"v\" ["))
      #expect(store.state.withLock(\.commits.count) == before)
    }
  }

  /// A few short commands draft any number of bytes, all of which the server would hold.
  @Test func aTransactionDraftsNoMoreThanTheTableHolds() async throws {
    try await MirroredHost.with { host in
      let most = host.fixture.table.capacityBytes
      let length = host.fixture.table.maximumValueLength / 2
      let copies = most / length + 2
      let commands = (0..<copies).map { "COPY a b\($0)" }
      let answers = try await host.answers(
        ["MULTI", "SETRANGE a \(length - 1) x"] + commands + ["SET k v", "EXEC", "GET k"])
      let reason =
        "more is to be stored at once than the table's capacity of 4MiB, so nothing was written; store less at once"
      #expect(answers.suffix(2).first == "-EXECABORT Transaction discarded because of: \(reason)")
      #expect(answers.last == "nil")
      #expect(host.fixture.store.state.withLock(\.commits.count) == 0)
      // What is stored and removed again does not count.
      let removals = (0..<copies).map { "DEL b\($0)" }
      let others = zip(commands, removals).flatMap { [$0, $1] }
      let whole = try await host.answers(
        ["MULTI", "SETRANGE a \(length - 1) x"] + others + ["DEL a", "SET k v", "EXEC"])
      #expect(whole.last?.hasSuffix(" :1 :1 :1 +OK]") == true, "\(whole.last ?? "")")
      #expect(try host.fixture.contents == ["k": "v"])
    }
  }

  @Test func whoWatchesIsToldOfAChangeOverThere() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      store.commit([("app/w", "1")])
      try await host.fixture.wait(for: 2)
      try await host.expect("[+OK]", last: "WATCH w absent", "MULTI", "SET k 1", "EXEC")
      // When EXEC is on its way: no key of its own is in the way, the watched one is.
      store.once(before: "k") { store.commit([("app/w", "1")]) }
      try await host.expect("nil", last: "WATCH w", "MULTI", "SET k 2", "EXEC")
      store.once(before: "k") { store.commit([("app/absent", "1")]) }
      try await host.expect("nil", last: "WATCH absent", "MULTI", "SET k 2", "EXEC")
      #expect(store.value("app/k") == "1")
      // Another key: evaluated anew, and not given up.
      store.once(before: "n") { store.commit([("app/n", "5")]) }
      try await host.expect("[:6]", last: "WATCH w", "MULTI", "INCR n", "EXEC")
    }
  }

  @Test func aLostAnswerIsSaidAndNothingIsSentTwice() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      store.state.withLock { $0.losesAnswers = true }
      let answer = try await host.answer("INCR n")
      #expect(
        answer.hasPrefix(
          "-MIRRORUNSURE table '\(host.fixture.table.name)': the connection broke; the other store may have made it"))
      #expect(store.state.withLock(\.commits.count) == 1)
      #expect(store.value("app/n") == "1")
      // Else the next one conflicts with it, and that answer is lost as well.
      try await host.fixture.wait(for: 2)
      let transaction = try await host.answers(["MULTI", "INCR n", "EXEC", "PING"])
      #expect(transaction[2].hasPrefix("-MIRRORUNSURE") && transaction[3] == "+PONG")
      #expect(store.value("app/n") == "2")
      for (refusal, start) in [
        (.refused("too many"), "-ERR table "), (.notPermitted("no"), "-NOPERM table "),
        (.away("no leader"), "-MIRRORAWAY table "),
      ] as [(UpstreamRefusal, String)] {
        store.state.withLock { ($0.losesAnswers, $0.refusal) = (false, refusal) }
        let answer = try await host.answer("INCR n")
        #expect(answer.hasPrefix(start) && answer.hasSuffix("nothing was written"))
      }
      store.state.withLock { $0.refusal = nil }
      try await host.expect([
        "INCR n": ":3"
      ])
    }
  }

  /// The connection stands, and nothing comes over it.
  @Test func whatIsNotAnsweredInTimeMayHaveBeenMade() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      store.state.withLock { $0.keepsAnswers = true }
      let answer = try await host.answer("INCR n")
      #expect(
        answer.hasPrefix(
          "-MIRRORUNSURE table '\(host.fixture.table.name)': no answer came; the other store may have made it"))
      // On a busy machine the time may be over before the store has made it.
      #expect(await comesTrue { store.state.withLock(\.commits.count) == 1 })
      #expect(store.value("app/n") == "1")
    }
  }

  @Test func awayAndStoppedAreSaidAtOnceAndReadsGoOn() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      try await host.expect([
        "SET k v": "+OK"
      ])
      store.set(isDown: true)
      try await host.fixture.wait { $0.state == .away && $0.problem == "the store is down" }
      let away = try await host.answers(["SET k w", "GET k", "MULTI", "SET k w", "EXEC", "FLUSHALL", "GET k"])
      let start =
        "-MIRRORAWAY table '\(host.fixture.table.name)': its mirror is away (the store is down); nothing was written"
      #expect(away == [start, "\"v\"", "+OK", "+QUEUED", start, start, "\"v\""])
      store.set(isDown: false)
      try await host.fixture.wait(for: .following)
      #expect(try await comesTrue { try await host.answer("SET k w") == "+OK" })
      store.commit([("app/\(Table.Upstream.key)", "not the store's to have")])
      try await host.fixture.wait(for: .stopped)
      let stopped = try await host.answers(["SET k x", "GET k"])
      #expect(
        stopped[0].hasPrefix("-MIRRORAWAY") && stopped[0].contains("its mirror is stopped") && stopped[1] == "\"w\"")
    }
  }

  @Test func whatTheTableDoesNotShowInTimeIsSaidAndReadsGoOn() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      try await host.expect([
        "SET k v": "+OK"
      ])
      store.state.withLock { $0.isSilent = true }
      async let writing = host.answers(["SET k w"])
      #expect(await comesTrue { store.value("app/k") == "w" })
      // The write waits, and nobody who reads.
      try await host.expect([
        "GET k": "\"v\""
      ])
      let answer = try await writing[0]
      #expect(answer.hasPrefix("-MIRRORLATE") && answer.contains("as revision 3"))
    }
  }

  @Test func whoNeverHasItsTurnIsTold() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      store.changesBeforeEachCommit("app/n")
      var answer = ""
      // It is unsure, and asked again, where the store's answer waits for Swift's pool longer than shmd waits for it.
      _ = try await comesTrue {
        answer = try await host.answer("INCR n")
        return !answer.hasPrefix("-MIRRORUNSURE")
      }
      #expect(
        answer.hasPrefix("-MIRRORBUSY") && answer.hasSuffix("times; nothing was written, try again"), "\(answer)")
    }
  }

  @Test func whatCannotGoThereIsRefusedAndNotSent() async throws {
    try await MirroredHost.with { host in
      let store = host.fixture.store
      store.commit([("app/k", "v")])
      try await host.fixture.wait(for: 2)
      for command in ["SET k v EX 10", "SETEX new 10 v", "EXPIRE k 10", "GETEX k PX 10"] {
        let answer = try await host.answer(command)
        #expect(answer.hasPrefix("-ERR table ") && answer.contains("leases are not served"), "\(command)")
      }
      for answer in try await host.answers(["SET #upstream x", "DEL #upstream"]) {
        #expect(answer.contains("keeps its state"))
      }
      let long = try await host.answer("SET \(String(repeating: "x", count: 65537)) v")
      #expect(long == "-ERR the key has 65537 bytes; at most 65536 are allowed")
      let most = host.fixture.table.maximumValueLength
      let huge = try await host.talk { client in
        try client.call([Array("SET".utf8), Array("k".utf8), [UInt8](repeating: 1, count: most + 1)])
      }
      #expect(
        huge == "-ERR the value has \(most + 1) bytes; this table takes at most \(most) (a quarter of its capacity)")
      let visit = try await host.answers(["MULTI", "SET k w", "KEYS *", "DBSIZE", "EXEC", "GET k"])
      #expect(visit[4].hasPrefix("[+OK -ERR table ") && visit[5] == "\"w\"")
      try await host.expect([
        "MULTI": "+OK", "SET k x": "+QUEUED", "PUBLISH c m": "+QUEUED",
        "EXEC":
          "-EXECABORT Transaction discarded because of: the table mirrors another store, and only commands of keys go there",
        "GET k": "\"w\"",
      ])
      #expect(
        store.state.withLock(\.commits).allSatisfy {
          !$0.hasChanges || $0.changes.keys.elementsEqual([Array("k".utf8)])
        })
    }
  }
}

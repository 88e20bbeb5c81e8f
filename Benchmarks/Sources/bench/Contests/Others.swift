import CPeers
import SharedTable

/// Removing single keys, and seeing all of a table.
func deleteAndScanContest(keyCount: Int) throws -> Contest {
  let workload = Workload(keyCount: keyCount)
  let ours = try OurTable(workload)
  return Contest(
    name: "delete-and-scan", work: "one key removed, or visited by an iteration over a snapshot", reference: "delete",
    contestants: [
      Contestant(
        "delete", beside: nil,
        measuring: { number in
          let (table, value, keys) = (ours.table, workload.value, workload.round(number, 2000).keys)
          let begin = now()
          for index in 0..<2000 { try table.remove(Key(at: keys + index * Workload.keyBytes)) }
          let elapsed = now() - begin
          for index in 0..<2000 { try table.set(Key(at: keys + index * Workload.keyBytes), value) }
          return Double(elapsed) / 2000
        }),
      Contestant("iterate a snapshot") { _ in
        var count = 0
        try ours.table.snapshot().read { view in
          try view.forEach { _, _ in
            count += 1
          }
        }
        guard count == workload.keyCount else { throw Failure("\(count) keys were visited") }
        return count
      },
    ])
}

/// The slowest single write while a table grows.
func growthContest(keyCounts: [Int]) throws -> Contest {
  Contest(
    name: "growth", work: "the slowest of all single writes while a table grows to so many keys",
    reference: "\(shown(Double(keyCounts[0]))) keys", mostRounds: 3,
    contestants: keyCounts.map { keyCount in
      Contestant("\(shown(Double(keyCount))) keys", beside: nil, measuring: { _ in try slowestWrite(keyCount) })
    })
}

private func slowestWrite(_ keyCount: Int) throws -> Double {
  let table = try Table.temporary(capacityBytes: (16 << 20) + keyCount * 260)
  let value = [UInt8](repeating: 0x5a, count: 100)
  var generator = SplitMix(state: 7)
  var slowest = 0
  for _ in 0..<keyCount {
    let key = Key(high: generator.next(), low: generator.next())
    let begin = now()
    try table.set(key, value)
    slowest = max(slowest, now() - begin)
  }
  return Double(slowest)
}

/// What an entry takes beyond its key and value.
func memoryContest(keyCount: Int, peers: Bool) throws -> Contest {
  let workload = Workload(keyCount: keyCount)
  let payload = Workload.keyBytes + workload.value.count
  func overhead(_ bytes: Int) -> Double { Double(bytes) / Double(keyCount) - Double(payload) }
  let ours = try OurTable(workload)
  let lmdb = try workload.lmdb().table
  var contestants = [
    Contestant("SharedTable", beside: nil, measuring: { _ in overhead(ours.table.statistics.usedBytes ?? 0) }),
    Contestant("LMDB", beside: nil, measuring: { _ in overhead(Int(lmdb_used_bytes(lmdb.pointer))) }),
  ]
  if peers {
    let (_, client, server) = try workload.redis()
    contestants.append(
      Contestant(
        "Redis", beside: nil,
        measuring: { _ in
          withExtendedLifetime(server) { overhead(Int(redis_used_bytes(client.pointer))) }
        }))
  }
  return Contest(
    name: "memory", work: "what an entry takes beyond its key and value, at \(shown(Double(keyCount))) keys",
    reference: "SharedTable", unit: "Bytes", mostRounds: 1, contestants: contestants)
}

/// The first write after a process died in its barrier.
func recoveryContest() throws -> Contest {
  let sizes = [(10_000, 1), (10_000, 10_000), (1_000_000, 1), (1_000_000, 10_000)]
  return Contest(
    name: "recovery", work: "the first write after a process was killed in a barrier",
    reference: "1 key, table of 10,000",
    mostRounds: 11,
    contestants: try sizes.map { keyCount, changes in
      let ours = try OurTable(Workload(keyCount: keyCount))
      return Contestant(
        "\(changes == 1 ? "1 key" : "\(shown(Double(changes))) keys"), table of \(shown(Double(keyCount)))",
        beside: nil,
        measuring: { _ in
          let victim = try ChildProcess(ownPath, ["worker", "barrier", ours.table.name, "\(changes)"])
          guard try victim.readLine() == "ready" else { throw Failure("the victim is not ready") }
          try victim.send("go")
          guard try victim.readLine() == "inside" else { throw Failure("the victim is not in its barrier") }
          victim.end()
          let begin = now()
          try ours.table.set("after", "the death")
          return Double(now() - begin)
        })
    })
}

import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Hit rates stay within 3 percentage points of a true LRU's on traces of a Zipf distribution with exponent 0.9.
@Suite struct HitRateTests {
  static let keys = 5000
  static let length = 20_000
  static let seed: UInt64 = 20_260_101

  /// The reference's hit rate on the trace, in per cent.
  private func reference(_ limit: Int) -> Double {
    var zipf = Zipf(count: Self.keys, exponent: 0.9, seed: Self.seed)
    var lru = ReferenceLRU(limit: limit)
    var hits = 0
    for _ in 0..<Self.length where lru.use(zipf.next()) { hits += 1 }
    return percent(hits)
  }

  private func percent(_ hits: Int) -> Double { Double(hits) * 100 / Double(Self.length) }

  /// One access goes to one handle, as if each were a process; what is missing is inserted by `writers` of them.
  private func measure(_ table: Table, limit: Int, handles: Int, writers: Int) throws -> Double {
    let caches = try (0..<handles).map { _ in try SharedCache<String, Int>("c", in: table, limit: .entries(limit)) }
    var zipf = Zipf(count: Self.keys, exponent: 0.9, seed: Self.seed)
    var hits = 0
    for index in 0..<Self.length {
      let number = zipf.next()
      if try caches[index % handles]["\(number)"] != nil {
        hits += 1
      } else {
        try caches[index % writers].set("\(number)", number)
      }
    }
    for cache in caches { try cache.flush() }
    #expect(try caches[0].count == limit)
    #expect(try problems(table) == [])
    return percent(hits)
  }

  private func expectClose(_ ours: Double, _ limit: Int, _ title: String) {
    let lru = reference(limit)
    print("hit rate, \(limit) of \(Self.keys) keys, \(title): \(ours) %, LRU \(lru) %")
    #expect(abs(ours - lru) < 3, "\(ours) % instead of \(lru) %")
  }

  @Test(arguments: [50, 250, 1000]) func oneProcessHitsAsALRUDoes(limit: Int) throws {
    try withTable(.rcu) { table throws in
      expectClose(try measure(table, limit: limit, handles: 1, writers: 1), limit, "one process")
    }
  }

  @Test(arguments: [50, 250, 1000]) func processesThatReadAndWriteHitAsOneLRUDoes(limit: Int) throws {
    try withTable(.rwlock) { table throws in
      expectClose(try measure(table, limit: limit, handles: 3, writers: 3), limit, "three that read and write")
    }
  }

  @Test(arguments: [50, 250, 1000]) func hitsOfProcessesThatOnlyReadCount(limit: Int) throws {
    try withTable(.rcu) { table throws in
      expectClose(try measure(table, limit: limit, handles: 4, writers: 1), limit, "one of four writes")
    }
  }

  @Test func realProcessesSideBySideHitAsOneLRUDoes() throws {
    try withTable(.rcu) { table throws in
      let limit = 250
      let workers = try (0..<3).map { _ in try cacheWorker(table, limit: limit) }
      for (index, worker) in workers.enumerated() {
        try worker.send("cache-trace \(Self.seed + UInt64(index)) \(Self.length / 3) \(Self.keys)")
      }
      let hits = try workers.map { Int(try $0.readLine()) ?? 0 }.reduce(0, +)
      expectClose(percent(hits), limit, "three processes")
      #expect(try problems(table) == [])
    }
  }
}

import SharedTable
import TableTestSupport
import Testing

@testable import TableEngine

/// What is asked for is what the search comes to: a wrong place would only be slow.
@Suite struct PrefetchTests {
  /// So many keys that sub-tables were split often.
  @Test func theLikelyEntryIsNearlyAlwaysTheKeys() throws {
    try withTable(.rcu, capacityBytes: 64 << 20) { table in
      let keys = (0..<50_000).map { "key:\($0)" }
      for key in keys { try table.set(key, 1) }
      let segment = table.segment
      let lookup = Lookup(data: segment.data)
      let found = try table.read { _ in
        keys.count { key in
          Array(key.utf8).withUnsafeBytes { bytes in
            guard let hash = segment.prefetchBucket(of: bytes) else { return false }
            segment.prefetchEntry(hash: hash)
            let entry = lookup.likelyEntry(hash: hash, bucket: segment.homeBucket(hash: hash))
            return entry != 0 && entry == lookup.newest(bytes.baseAddress!, bytes.count, hash: hash)
          }
        }
      }
      #expect(found > keys.count * 9 / 10)
      #expect(try table.check() == [])
    }
  }

  @Test func nothingIsAskedForIfTheKeyIsEmptyOrLong() throws {
    try withSmallTable(.rcu) { table in
      let segment = table.segment
      try table.read { _ in
        for (count, isAskedFor) in [(0, false), (1, true), (256, true), (257, false)] {
          let key = [UInt8](repeating: 1, count: count)
          let hash = key.withUnsafeBytes { segment.prefetchBucket(of: $0) }
          #expect((hash != nil) == isAskedFor, "\(count)")
          // Of an absent key: there is nothing to be found.
          if let hash { segment.prefetchEntry(hash: hash) }
        }
      }
    }
  }
}

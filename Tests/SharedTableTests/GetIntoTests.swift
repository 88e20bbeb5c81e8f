import Dispatch
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// `get` into a buffer decides the frequent case on a path of its own: whatever is not that case must come out the same.
@Suite struct GetIntoTests {
  private func get(_ table: Table, _ key: [UInt8], capacity: Int = 4096) throws -> (length: Int?, bytes: [UInt8]) {
    var buffer = [UInt8](repeating: 0xee, count: capacity)
    let length = try unsafe buffer.withUnsafeMutableBytes { buffer in
      try unsafe key.withUnsafeBytes { key in try unsafe table.get(key, into: buffer) }
    }
    return (length, buffer)
  }

  private func value(_ table: Table, _ key: [UInt8]) throws -> [UInt8]? {
    let (length, bytes) = try get(table, key)
    return length.map { Array(bytes[..<$0]) }
  }

  @Test(arguments: [Table.Variant.rcu, .rwlock])
  func agreesWithADictionaryForAllKindsOfKeys(_ variant: Table.Variant) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix(seed: seed)
    let table = try Table.temporary(variant: variant, capacityBytes: 64 << 20)
    var expected: [[UInt8]: [UInt8]] = [:]
    for round in 0..<6000 {
      let lengths = [1...7, 8...8, 9...15, 16...16, 17...40, 41...300].randomElement(using: &random)!
      let key = (0..<Int.random(in: lengths, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random) }
      switch Int.random(in: 0..<10, using: &random) {
      case 0...1:
        try table.remove(key)
        expected[key] = nil
      case 2:
        try table.set(key, round)
        expected[key] = unsafe withUnsafeBytes(of: round) { unsafe Array($0) }
      case 3:
        try table.set(key, [1, 2, 3], expires: .after(.seconds(3600)))
        expected[key] = [1, 2, 3]
      case 4:
        try table.set(key, [4, 5], expires: .at(nanosecondsSince1970: 1))
        expected[key] = nil
      default:
        let value = (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8(round & 0xff) }
        try table.set(key, value)
        expected[key] = value
      }
      #expect(try value(table, key) == expected[key], "seed \(seed), round \(round), key \(key)")
      #expect(try table.bytes(forKey: key) == expected[key], "seed \(seed), round \(round), key \(key)")
    }
    for (key, wanted) in expected { #expect(try value(table, key) == wanted, "seed \(seed), key \(key)") }
  }

  @Test(arguments: [Table.Variant.rcu, .rwlock])
  func findsEveryKeyHoweverFullTheBuckets(_ variant: Table.Variant) throws {
    let table = try Table.temporary(variant: variant, capacityBytes: 64 << 20)
    for number in 0..<30_000 { try table.set("key \(number)", "value \(number)") }
    for number in 0..<30_000 {
      #expect(try value(table, Array("key \(number)".utf8)) == Array("value \(number)".utf8))
      #expect(try value(table, Array("no key \(number)".utf8)) == nil)
    }
  }

  @Test func aValueThatDoesNotFitIsNotCopied() throws {
    let table = try Table.temporary()
    try table.set("key", [UInt8](repeating: 7, count: 100))
    let (length, bytes) = try get(table, Array("key".utf8), capacity: 99)
    #expect(length == 100)
    #expect(bytes.allSatisfy { $0 == 0xee })
    #expect(try get(table, Array("key".utf8), capacity: 0).length == 100)
    #expect(try get(table, Array("key".utf8), capacity: 100).bytes == [UInt8](repeating: 7, count: 100))
  }

  @Test func noKeyAndTooLongAKeyAreErrors() throws {
    let table = try Table.temporary()
    #expect(code { try get(table, []) } == .invalid)
    #expect(throws: TableError.self) { try get(table, [UInt8](repeating: 1, count: 65_537)) }
    #expect(try value(table, [UInt8](repeating: 1, count: 65_536)) == nil)
  }

  @Test func insideASectionItJoinsTheSnapshotAndInsideABarrierItIsAnError() throws {
    let table = try Table.temporary()
    try table.set("key", "old")
    try table.read { view in
      let (single, inView) = (try value(table, Array("key".utf8)), try view.get("key", as: String.self))
      #expect(single == Array("old".utf8) && inView == "old")
    }
    try table.barrier { tx in
      try tx.set("key", "new")
      #expect(code { try value(table, Array("key".utf8)) } == .wouldDeadlock)
    }
    #expect(try value(table, Array("key".utf8)) == Array("new".utf8))
  }

  @Test func whileABarrierIsOpenOtherThreadsSeeWhatWasBefore() throws {
    let table = try Table.temporary()
    try table.set("changed", "old")
    try table.set("removed", "old")
    try table.barrier { tx in
      try tx.set("changed", "new")
      try tx.remove("removed")
      try tx.set("added", "new")
      let seen = Mutex<[[UInt8]?]>([])
      let done = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        let values = ["changed", "removed", "added"].map { try? value(table, Array($0.utf8)) }
        seen.withLock { $0 = values }
        done.signal()
      }
      done.wait()
      #expect(seen.withLock { $0 } == [Array("old".utf8), Array("old".utf8), nil])
    }
    #expect(try value(table, Array("changed".utf8)) == Array("new".utf8))
    #expect(try value(table, Array("removed".utf8)) == nil)
    #expect(try value(table, Array("added".utf8)) == Array("new".utf8))
  }

  @Test func manyTablesOfOneThreadAreToldApart() throws {
    let tables = try (0..<20).map { _ in try Table.temporary(capacityBytes: 1 << 20) }
    for (number, table) in tables.enumerated() { try table.set("key", "table \(number)") }
    for _ in 0..<3 {
      for (number, table) in tables.enumerated() {
        #expect(try value(table, Array("key".utf8)) == Array("table \(number)".utf8))
      }
    }
  }
}

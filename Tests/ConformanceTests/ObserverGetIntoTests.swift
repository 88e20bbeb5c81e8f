import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// An observer's `get` into a buffer decides the frequent cases on paths of its own, which trust nothing: whatever is not
/// one of them must come out the same.
@Suite struct ObserverGetIntoTests {
  private func value(_ table: Table, _ key: String, capacity: Int = 512) throws -> [UInt8]? {
    let key = Array(key.utf8)
    var length: Int?
    let bytes = try [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      length = try key.withUnsafeBytes { key in try table.get(key, into: UnsafeMutableRawBufferPointer(buffer)) }
      count = min(length ?? 0, capacity)
    }
    return length.map { _ in bytes }
  }

  @Test(arguments: Table.Variant.allCases)
  func findsEveryKeyHoweverFullTheBuckets(_ variant: Table.Variant) throws {
    try Setting(variant: variant, way: .observer).with { table, observer throws in
      try table.barrier { tx in for number in 0..<10_000 { try tx.set("key \(number)", "value \(number)") } }
      for number in 0..<10_000 {
        #expect(try value(observer, "key \(number)") == Array("value \(number)".utf8))
        #expect(try value(observer, "no key \(number)") == nil)
      }
      try table.barrier { tx in for number in 0..<5_000 { try tx.remove("key \(number)") } }
      for number in 0..<5_000 { #expect(try value(observer, "key \(number)") == nil) }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whatIsNotPlainComesOutTheSame(_ variant: Table.Variant) throws {
    try Setting(variant: variant, way: .observer).with { table, observer throws in
      try table.set("lasting", "yes", expires: .after(.seconds(3600)))
      try table.set("ended", "no", expires: .at(nanosecondsSince1970: 1))
      try table.set("long", [UInt8](repeating: 1, count: 300))
      try table.set("empty", [UInt8]())
      try table.set("number", 7)
      #expect(try value(observer, "lasting") == Array("yes".utf8))
      #expect(try value(observer, "ended") == nil)
      #expect(try value(observer, "long", capacity: 300) == [UInt8](repeating: 1, count: 300))
      #expect(try value(observer, "long", capacity: 299)?.count == 299)
      #expect(try value(observer, "empty") == [])
      #expect(try value(observer, "number")?.count == 8)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func typedReadsComeOutTheSame(_ variant: Table.Variant) throws {
    try Setting(variant: variant, way: .observer).with { table, observer throws in
      let lengths = [0, 1, 15, 16, 100, 1023, 1024, 1025, 5000]
      for length in lengths { try table.set("string \(length)", String(repeating: "ü", count: length / 2)) }
      for length in lengths { try table.set("bytes \(length)", [UInt8](repeating: 7, count: length)) }
      for number in -2000..<2000 { try table.set("number \(number)", number) }
      for length in lengths {
        #expect(try observer.get("string \(length)") == String(repeating: "ü", count: length / 2))
        #expect(try observer.get("bytes \(length)") == [UInt8](repeating: 7, count: length))
        #expect(try observer.bytes(forKey: "string \(length)")?.count == length / 2 * 2)
      }
      for number in -2000..<2000 { #expect(try observer.get("number \(number)") == number) }
      #expect(try observer.get("number 5000", as: Int.self) == nil)
      #expect(code { try observer.get("number 7", as: String.self) } == .typeMismatch)
      #expect(code { try observer.get("string 16", as: Int.self) } == .typeMismatch)
      try table.remove("number 7")
      #expect(try observer.get("number 7", as: Int.self) == nil)
      try table.set("number 8", 8, expires: .at(nanosecondsSince1970: 1))
      #expect(try observer.get("number 8", as: Int.self) == nil)
    }
  }

  @Test func anOpenBarrierShowsItNothing() throws {
    try Setting(variant: .rcu, way: .observer).with { table, observer throws in
      try table.set("changed", "old")
      try table.set("removed", "old")
      try table.barrier { tx in
        try tx.set("changed", "new")
        try tx.remove("removed")
        try tx.set("added", "new")
        #expect(try value(observer, "changed") == Array("old".utf8))
        #expect(try value(observer, "removed") == Array("old".utf8))
        #expect(try value(observer, "added") == nil)
      }
      #expect(try value(observer, "changed") == Array("new".utf8))
      #expect(try value(observer, "removed") == nil)
    }
  }

  /// Values are of one byte each, over and over, and as long as that says: blocks are reused all the time.
  @Test(arguments: Table.Variant.allCases)
  func aCopyIsNeverTornHoweverFastTheWriter(_ variant: Table.Variant) throws {
    try Setting(variant: variant, way: .observer).with { table, observer throws in
      let keys = 500
      let isOver = Atomic(false)
      @Sendable func set(_ round: Int) throws {
        let byte = UInt8(round & 0x7f)
        for number in 0..<keys { try table.set("key \(number)", [UInt8](repeating: byte, count: 100 + Int(byte))) }
      }
      try set(0)
      let writer = TestThread {
        defer { isOver.store(true, ordering: .releasing) }
        for round in 0..<400 { try set(round) }
      }
      var copies = 0
      while !isOver.load(ordering: .acquiring) {
        for number in 0..<keys {
          guard let bytes = try value(observer, "key \(number)"), let byte = bytes.first else {
            Issue.record("key \(number) was not found")
            continue
          }
          #expect(bytes == [UInt8](repeating: byte, count: 100 + Int(byte)))
          let typed = try observer.get("key \(number)", as: [UInt8].self) ?? []
          #expect(typed == [UInt8](repeating: typed.first ?? 0, count: 100 + Int(typed.first ?? 0)))
          copies += 2
        }
      }
      try writer.join()
      #expect(copies > 0)
    }
  }
}

import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// A value's initialiser that reads the table it is decoded from.
@Suite struct ReadInInitializerTests {
  /// Decoded while another thread overwrites it so often that its memory would be reused, were it not protected.
  private struct Curious: TableValue {
    @TaskLocal static var duringDecoding: (@Sendable () -> Void)?
    static let tableType = ValueType.bytes
    let before: [UInt8]
    let after: [UInt8]

    func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      try before.withTableBytes(body)
    }

    init?(tableBytes: UnsafeRawBufferPointer) {
      before = [UInt8](tableBytes)
      Self.duringDecoding?()
      after = [UInt8](tableBytes)
    }
  }

  /// - Parameter lives: a value that expires is read by the general way, a plain one by the fast path.
  @Test(arguments: [false, true]) func whatIsDecodedStaysWhatItIs(lives: Bool) throws {
    try withTableName { (name: String) throws -> Void in
      var options = Table.Options(variant: .rcu, capacityBytes: 4 << 20)
      options.poisonsFreedBlocks = true
      let table = try Table.create(name, options)
      let value = [UInt8](repeating: 7, count: 500)
      let expiration = lives ? Expiration.after(.seconds(1000)) : .never
      try table.set("other", 1)
      try table.set("key", value, expires: expiration)
      _ = try table.get("key", as: [UInt8].self)
      let found = Mutex<Int?>(nil)
      let curious = try Curious.$duringDecoding.withValue({
        found.withLock { $0 = try? table.get("other", as: Int.self) }
        try? TestThread {
          for _ in 0..<300 { try table.set("key", value, expires: expiration) }
          _ = try table.administration.maintain()
        }.join()
      }) { try table.get("key", as: Curious.self) }
      #expect(found.withLock { $0 } == 1)
      #expect(curious?.before == value)
      #expect(curious?.after == value)
      #expect(try table.get("other", as: Int.self) == 1)
      try table.set("other", 2)
      #expect(try table.check() == [])
    }
  }

  @Test func aBarrierInAnInitializerIsRefused() throws {
    try withTable(.rcu) { table throws in
      try table.set("key", [1, 2, 3])
      _ = try table.get("key", as: [UInt8].self)
      let refusal = Mutex<TableError.Code?>(nil)
      let decoded = try Curious.$duringDecoding.withValue({
        refusal.withLock { $0 = code { try table.set("other", 1) } }
      }) { try table.get("key", as: Curious.self) }
      #expect(decoded?.after == [1, 2, 3])
      #expect(refusal.withLock { $0 } == .wouldDeadlock)
      try table.set("other", 1)
    }
  }
}

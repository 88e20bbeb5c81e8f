import SharedTable
import TableEngine
import TableTestSupport
import Testing

/// Barriers of the library's own code, whose steps ask less.
@Suite struct DirectBarrierTests {
  /// What such a barrier does with one key below "d", and whether it was replaced, which ends the barrier.
  private static func replace(_ key: String, _ segment: Segment, _ barrier: DirectBarrier) throws -> Bool {
    try key.withKeyBytes { key throws(EngineError) in
      try [UInt8(7)].withTableBytes { bytes throws(EngineError) in
        try segment.replace(key, hash: segment.hash(key), bytes, type: ValueType.bytes.rawValue, committing: barrier) {
          WallClock()
        }
      }
    }
  }

  private static func find(_ key: String, _ segment: Segment, _ barrier: DirectBarrier) -> [UInt8]? {
    key.withKeyBytes { key in
      segment.find(key, hash: segment.hash(key), in: barrier) { WallClock() }.map { [UInt8]($0.value) }
    }
  }

  private static func begin(_ segment: Segment) throws -> DirectBarrier {
    try "d".withKeyBytes { key throws(EngineError) in
      try segment.beginDirectBarrier(below: key, hash: segment.hash(key), timeoutNanoseconds: longNanoseconds) {
        WallClock()
      }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whatIsReplacedIsCommitted(_ variant: Table.Variant) throws {
    try withTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      try table.set("d", [UInt8(3)])
      try table.set("d/there", [UInt8(1)])
      let version = table.version
      let barrier = try Self.begin(segment)
      #expect(barrier.root.map { [UInt8]($0.value) } == [3])
      #expect(Self.find("d/there", segment, barrier) == [1])
      #expect(try Self.replace("d/there", segment, barrier))
      #expect(segment.threadSection == .none && table.version == version + 1)
      #expect(try table.get("d/there", as: [UInt8].self) == [7])
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func theBarrierGoesOnWhereThereIsNothingToReplace(_ variant: Table.Variant) throws {
    try withTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      for key in ["d/removed", "d/expired"] { try table.set(key, [UInt8(1)]) }
      try table.remove("d/removed")
      try table.set("d/expired", [UInt8(1)], expires: .at(1))
      let (count, version) = (table.count, table.version)
      let barrier = try Self.begin(segment)
      #expect(barrier.root == nil)
      for key in ["d/absent", "d/removed", "d/expired"] {
        #expect(Self.find(key, segment, barrier) == nil)
        #expect(try !Self.replace(key, segment, barrier), "\(key)")
      }
      #expect(segment.threadSection == .barrier && table.version == version)
      segment.abortBarrier()
      #expect(segment.threadSection == .none && table.count == count)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whatIsRefusedLeavesTheBarrierOpen(_ variant: Table.Variant) throws {
    try withTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      try table.set("d/there", [UInt8(1)])
      let barrier = try Self.begin(segment)
      let long = [UInt8](repeating: 0, count: table.maximumValueLength + 1)
      #expect(throws: EngineError.self) {
        try "d/there".withKeyBytes { key throws(EngineError) in
          try long.withTableBytes { bytes throws(EngineError) in
            try segment.replace(key, hash: segment.hash(key), bytes, ValueAttributes(), committing: barrier) {
              WallClock()
            }
          }
        }
      }
      #expect(segment.threadSection == .barrier)
      segment.abortBarrier()
      #expect(try table.get("d/there", as: [UInt8].self) == [1])
      try table.read { _ in
        _ = #expect(throws: EngineError.self) { try Self.begin(segment) }
      }
    }
  }
}

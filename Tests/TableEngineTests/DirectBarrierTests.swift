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
          ExpiryClock()
        }
      }
    }
  }

  private static func find(_ key: String, _ segment: Segment, _ barrier: DirectBarrier) -> [UInt8]? {
    key.withKeyBytes { key in
      segment.find(key, hash: segment.hash(key), in: barrier) { ExpiryClock() }.map { [UInt8]($0.value) }
    }
  }

  private static func begin(_ segment: Segment) throws -> DirectBarrier {
    try "d".withKeyBytes { key throws(EngineError) in
      try segment.beginDirectBarrier(below: key, hash: segment.hash(key), timeoutNanoseconds: longNanoseconds) {
        ExpiryClock()
      }
    }
  }

  /// Keys that are not there, each for a reason of its own once ``makeMissing(in:)`` was called.
  private static let missing = ["d/absent", "d/removed", "d/expired"]

  private static func makeMissing(in table: Table) throws {
    for key in missing[1...] { try table.set(key, [UInt8(1)]) }
    try table.remove("d/removed")
    try table.set("d/expired", [UInt8(1)], expires: .at(nanosecondsSince1970: 1))
  }

  @Test(arguments: Table.Variant.allCases)
  func whatIsReplacedIsCommitted(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
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
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      try Self.makeMissing(in: table)
      let (count, version) = (table.count, table.version)
      let barrier = try Self.begin(segment)
      #expect(barrier.root == nil)
      for key in Self.missing {
        #expect(Self.find(key, segment, barrier) == nil)
        #expect(try !Self.replace(key, segment, barrier), "\(key)")
      }
      #expect(segment.threadSection == .barrier && table.version == version)
      segment.abortBarrier()
      #expect(segment.threadSection == .none && table.count == count)
    }
  }

  /// With a fingerprint and padding, of any length: keys of 2 to 40 bytes, and all sizes of blocks up to a kilobyte.
  @Test(arguments: Table.Variant.allCases)
  func aValueIsMadeOfTheOldOneInPlace(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      let attributes = ValueAttributes(type: ValueType.structure.rawValue, fingerprint: 0xf00d, alignmentShift: 4)
      for length in 1...39 {
        let key = "d" + String(repeating: "k", count: length)
        try table.barrier { _ in
          try key.withKeyBytes { key throws(EngineError) in
            try [UInt8(0)].withTableBytes { bytes throws(EngineError) in try segment.put(key, bytes, attributes) }
          }
        }
        for count in stride(from: 2, to: 1000, by: 29) { try Self.lengthen(key, to: count, segment) }
        let found = try table.entry(forKey: key)
        #expect(found?.type == .structure)
        #expect(try #require(found).bytes.count > 900)
      }
      #expect(try table.check() == [])
    }
  }

  /// Whatever it is: expiry, fingerprint and alignment, in keys of every length.
  @Test(arguments: Table.Variant.allCases)
  func whatStandsBesideAValueStays(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      for form in 0..<8 {
        let attributes = ValueAttributes(
          type: ValueType.bytes.rawValue, expiry: form & 1 == 0 ? 0 : .max >> 1,
          fingerprint: form & 2 == 0 ? 0 : 0xf00d, alignmentShift: form & 4 == 0 ? 0 : 4)
        for length in 1...20 {
          let key = "d" + String(repeating: "k", count: length)
          try table.barrier { _ in
            try key.withKeyBytes { key throws(EngineError) in
              try [UInt8(0)].withTableBytes { bytes throws(EngineError) in try segment.put(key, bytes, attributes) }
            }
          }
          try Self.lengthen(key, to: 100 + length, segment)
          let barrier = try Self.begin(segment)
          defer { segment.abortBarrier() }
          let found = key.withKeyBytes { segment.find($0, hash: segment.hash($0), in: barrier) { ExpiryClock() } }
          let entry = try #require(found)
          #expect(entry.meta.type == attributes.type && entry.expiry == attributes.expiry)
          #expect(entry.fingerprint == attributes.fingerprint)
          #expect(String(decoding: entry.key, as: UTF8.self) == key)
          if form & 4 != 0 { #expect(UInt(bitPattern: entry.value.baseAddress) % 16 == 0) }
        }
      }
      #expect(try table.check() == [])
    }
  }

  /// Makes of a value of n bytes, which count from 0, one of more.
  private static func lengthen(_ key: String, to count: Int, _ segment: Segment) throws {
    let version = segment.committed
    let barrier = try begin(segment)
    try key.withKeyBytes { key throws(EngineError) in
      let hash = segment.hash(key)
      let old = segment.locate(key, hash: hash, in: barrier) { ExpiryClock() }!
      try segment.replace(old, valueLength: count, committing: barrier) { place in
        if old.entry.meta.alignmentShift > 0 { #expect(UInt(bitPattern: place) % 16 == 0) }
        place.copyMemory(from: old.entry.value.baseAddress!, byteCount: old.entry.value.count)
        for index in old.entry.value.count..<count {
          place.storeBytes(of: UInt8(truncatingIfNeeded: index), toByteOffset: index, as: UInt8.self)
        }
      }
    }
    #expect(segment.committed == version + 1 && segment.threadSection == .none)
    let next = try begin(segment)
    defer { segment.abortBarrier() }
    let wanted = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    #expect(find(key, segment, next) == wanted)
    let padding = key.withKeyBytes { key in
      let found = segment.find(key, hash: segment.hash(key), in: next) { ExpiryClock() }!
      let end = found.key.baseAddress! + key.count
      return UnsafeRawBufferPointer(start: end, count: found.value.baseAddress! - end)
    }
    #expect(padding.allSatisfy { $0 == 0 })
  }

  @Test(arguments: Table.Variant.allCases)
  func onlyWhatIsThereIsLocated(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      try Self.makeMissing(in: table)
      let barrier = try Self.begin(segment)
      defer { segment.abortBarrier() }
      for key in Self.missing {
        let isThere = key.withKeyBytes { key in
          segment.locate(key, hash: segment.hash(key), in: barrier) { ExpiryClock() } != nil
        }
        #expect(!isThere, "\(key)")
      }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whatIsRefusedLeavesTheBarrierOpen(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      let segment = try Segment.open(table.name, .participant)
      try table.set("d/there", [UInt8(1)])
      let barrier = try Self.begin(segment)
      let long = [UInt8](repeating: 0, count: table.maximumValueLength + 1)
      #expect(throws: EngineError.self) {
        try "d/there".withKeyBytes { key throws(EngineError) in
          try long.withTableBytes { bytes throws(EngineError) in
            try segment.replace(key, hash: segment.hash(key), bytes, ValueAttributes(), committing: barrier) {
              ExpiryClock()
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

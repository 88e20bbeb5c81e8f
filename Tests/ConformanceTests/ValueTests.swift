import SharedTable
import TableTestSupport
import Testing

/// Keys, values and types: what goes in comes out, through either way in.
@Suite struct ValueTests {
  static let capacity = 8 << 20

  @Test(arguments: Setting.all) func valuesOfAllSizesComeBackWhole(_ setting: Setting) throws {
    try setting.with(capacityBytes: Self.capacity) { table, reader throws in
      for size in [0, 1, 7, 8, 15, 16, 17, 4095, 4096, 8176, 16_384, 65_536, Self.capacity / 4] {
        let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ size) }
        try table.set("v", value)
        #expect(try reader.get("v") == value, "\(size) bytes")
        try reader.read { view throws in #expect(try view.get("v") == value, "\(size) bytes in a section") }
      }
    }
  }

  @Test(arguments: Setting.all) func aValueOverAQuarterOfTheCapacityIsRefused(_ setting: Setting) throws {
    try setting.with(capacityBytes: Self.capacity) { table, reader throws in
      try table.set("v", "old")
      let tooLong = [UInt8](repeating: 1, count: Self.capacity / 4 + 1)
      #expect(code { try table.set("v", tooLong) } == .tooLarge)
      #expect(try reader.get("v") == "old")
    }
  }

  @Test(arguments: Setting.all) func keysOfAllBytesAndSizesAreDistinct(_ setting: Setting) throws {
    try setting.with(capacityBytes: Self.capacity) { table, reader throws in
      let keys: [[UInt8]] = [
        [0], [0, 0], [0, 0, 0], [65, 0, 66], [65, 0, 67], [0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80],
        [UInt8](repeating: 0, count: 65_536), [UInt8](repeating: 0, count: 65_535),
        [UInt8](repeating: 1, count: 65_536),
      ]
      for (index, key) in keys.enumerated() { try table.set(key, index) }
      for (index, key) in keys.enumerated() { #expect(try reader.get(key) == index) }
      #expect(try reader.read { view in try view.keys() } == keys.sorted { $0.lexicographicallyPrecedes($1) })
      #expect(reader.count == keys.count)
      for key in keys { #expect(try table.remove(key)) }
      for key in keys { #expect(try !reader.contains(key)) }
    }
  }

  @Test(arguments: Setting.all) func anEmptyKeyIsRefused(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      #expect(code { try table.set("", 1) } == .invalid)
      #expect(code { try table.remove("") } == .invalid)
      #expect(code { _ = try reader.get("", as: Int.self) } == .invalid)
      #expect(code { _ = try reader.get([UInt8](), as: Int.self) } == .invalid)
      #expect(code { try reader.read { view in _ = try view.contains("") } } == .invalid)
      #expect(reader.count == 0)
    }
  }

  @Test(arguments: Setting.all) func aKeyOver64KiBIsRefused(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      let key = [UInt8](repeating: 1, count: 65_537)
      #expect(code { try table.set(key, 1) } == .tooLarge)
      #expect(code { try table.remove(key) } == .tooLarge)
      #expect(code { _ = try reader.get(key, as: Int.self) } == .tooLarge)
      #expect(reader.count == 0)
    }
  }

  @Test(arguments: Setting.all) func anotherTypeIsAnErrorAndNeverAReinterpretation(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      try table.set("s", "text")
      try table.set("i", -5)
      try table.set("d", 2.5)
      try table.set("b", true)
      try table.set("r", Reading(time: 7, celsius: 21.5))
      #expect(try reader.get("s") == "text")
      #expect(try reader.get("i") == -5)
      #expect(try reader.get("d") == 2.5)
      #expect(try reader.get("b") == true)
      #expect(try reader.get("r") == Reading(time: 7, celsius: 21.5))
      #expect(code { _ = try reader.get("s", as: Int.self) } == .typeMismatch)
      #expect(code { _ = try reader.get("i", as: Double.self) } == .typeMismatch)
      #expect(code { _ = try reader.get("d", as: Int.self) } == .typeMismatch)
      #expect(code { _ = try reader.get("r", as: OtherReading.self) } == .typeMismatch)
      #expect(try reader.bytes(forKey: "s") == [UInt8]("text".utf8))
      #expect(try reader.entry(forKey: "b")?.type == .bool)
    }
  }

  @Test(arguments: Setting.all) func aStringThatIsNotUTF8IsAnErrorAsAString(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      try table.set("s", bytes: [0xff, 0xfe], type: .string)
      try table.set("b", bytes: [2], type: .bool)
      #expect(code { _ = try reader.get("s", as: String.self) } == .typeMismatch)
      #expect(code { _ = try reader.get("b", as: Bool.self) } == .typeMismatch)
      #expect(try reader.bytes(forKey: "s") == [0xff, 0xfe])
    }
  }

  @Test(arguments: Table.Variant.allCases) func conditionsHoldOrNothingIsStored(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      #expect(try !table.set("k", 1, if: .present))
      #expect(try table.set("k", 1, if: .absent))
      #expect(try !table.set("k", 2, if: .absent))
      #expect(try table.get("k") == 1)
      let version = try #require(try table.entry(forKey: "k")?.version)
      #expect(try table.set("k", 3, if: .version(version)))
      #expect(try !table.set("k", 4, if: .version(version)))
      #expect(try table.get("k") == 3)
      try table.remove("k")
      #expect(try !table.set("k", 5, if: .version(version)))
      #expect(try table.set("k", 6, if: .absent))
    }
  }

  @Test(arguments: Table.Variant.allCases) func incrementCountsWhatIsANumber(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      #expect(try table.increment("n") == 1)
      #expect(try table.increment("n", by: -11) == -10)
      try table.set("text", "41")
      #expect(try table.increment("text") == 42)
      try table.set("word", "many")
      #expect(code { try table.increment("word") } == .typeMismatch)
      try table.set("big", Int.max)
      #expect(code { try table.increment("big") } == .invalid)
      #expect(try table.get("big") == Int.max)
    }
  }

  @Test(arguments: Setting.all) func theNumberOfKeysIsTheirs(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      for index in 0..<100 { try table.set("k\(index % 40)", index) }
      #expect(reader.count == 40)
      for index in 0..<50 { _ = try table.remove("k\(index)") }
      #expect(reader.count == 0)
      #expect(try reader.read { view in try view.count() } == 0)
      try table.barrier { tx throws in
        try tx.set("a", 1)
        try tx.remove("a")
        try tx.set("b", 1)
        try tx.set("b", 2)
      }
      #expect(reader.count == 1)
      #expect(try reader.get("a", as: Int.self) == nil)
      #expect(try reader.get("b") == 2)
    }
  }
}

struct Reading: SharedStruct, Equatable {
  static let schemaName = "reading"
  var time: UInt64
  var celsius: Double
}

struct OtherReading: SharedStruct {
  static let schemaName = "reading"
  var celsius: Double
  var time: UInt64
}

@Suite struct ExpiryTests {
  @Test(arguments: Setting.all) func anExpiredKeyIsAbsentForReadersAndWriters(_ setting: Setting) throws {
    let clock = TestClock()
    try setting.with(clock: clock) { table, reader throws in
      try table.set("soon", 1, expires: .after(.seconds(10)))
      try table.set("later", 2, expires: .at(nanosecondsSince1970: clock.now + 100_000_000_000))
      try table.set("never", 3)
      clock.advance(9)
      #expect(try reader.get("soon") == 1)
      clock.advance(1)
      #expect(try reader.get("soon", as: Int.self) == nil)
      #expect(try reader.entry(forKey: "soon") == nil)
      #expect(try reader.read { view in try view.keys() } == [Array("later".utf8), Array("never".utf8)])
      #expect(try table.barrier { tx in try tx.get("soon", as: Int.self) } == nil)
      #expect(try table.barrier { tx in try tx.keys() }.count == 2)
      #expect(try table.set("soon", 4, if: .absent), "absent is absent")
      #expect(try reader.get("soon") == 4)
      #expect(try reader.entry(forKey: "soon")?.expiry == nil, "a new value has its own expiry")
    }
  }

  @Test(arguments: Setting.all) func aSectionJudgesExpiryByOneInstant(_ setting: Setting) throws {
    let clock = TestClock()
    try setting.with(clock: clock) { table, reader throws in
      try table.set("k", 1, expires: .after(.seconds(1)))
      try table.set("j", 2, expires: .after(.seconds(1)))
      try reader.read { view throws in
        #expect(try view.get("k") == 1, "the first value that may expire decides on the instant")
        clock.advance(2)
        #expect(try view.get("k") == 1)
        #expect(try view.get("j") == 2)
        #expect(try reader.get("k") == 1, "a read in a read joins it")
      }
      #expect(try reader.get("k", as: Int.self) == nil)
      try table.set("k", 1, expires: .after(.seconds(1)))
      try table.barrier { tx throws in
        #expect(try tx.contains("k"))
        clock.advance(2)
        #expect(try tx.contains("k"))
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func removeExpiredRemovesThoseAndNoOthers(_ variant: Table.Variant) throws {
    let clock = TestClock()
    try Setting(variant: variant, way: .participant).with(clock: clock) { table, _ throws in
      for index in 0..<100 { try table.set("k\(index)", index, expires: .after(.seconds(index < 50 ? 1 : 100))) }
      #expect(try table.administration.sweepExpired() == 0)
      clock.advance(1)
      #expect(table.count == 100)
      #expect(try table.administration.sweepExpired(limit: 20) == 20)
      #expect(try table.administration.sweepExpired() == 30)
      #expect(table.count == 50)
      for index in 50..<100 { #expect(try table.get("k\(index)") == index) }
    }
  }

  @Test(arguments: Table.Variant.allCases) func incrementKeepsTheExpiry(_ variant: Table.Variant) throws {
    let clock = TestClock()
    try Setting(variant: variant, way: .participant).with(clock: clock) { table, _ throws in
      try table.set("n", 1, expires: .after(.seconds(5)))
      #expect(try table.increment("n") == 2)
      clock.advance(5)
      #expect(try table.get("n", as: Int.self) == nil)
      #expect(try table.increment("n") == 1)
    }
  }
}

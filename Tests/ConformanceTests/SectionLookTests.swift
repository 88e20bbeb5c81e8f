import SharedTable
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// A look in a read section decides the frequent case on a path of its own, and a section begins and ends on one:
/// whatever is not that case must come out the same.
@Suite struct SectionLookTests {
  struct Point: SharedStruct {
    static let schemaName = "section-look.point"
    var x: Int
    var y: Int
  }

  /// The same schema name, other fields.
  struct WiderPoint: SharedStruct {
    static let schemaName = "section-look.point"
    var x: Int
    var y: Int
    var z: Int
  }

  private func bytes(_ view: borrowing ReadView, _ key: some TableKey) throws -> [UInt8]? {
    guard let span = try view.bytes(forKey: key) else { return nil }
    return (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
  }

  /// The key as the four looks see it agree with each other.
  private func look(_ view: borrowing ReadView, _ key: [UInt8]) throws -> [UInt8]? {
    let seen = try bytes(view, key)
    #expect(try view.entry(forKey: key)?.bytes == seen, "\(key)")
    #expect(try view.contains(key) == (seen != nil), "\(key)")
    return seen
  }

  @Test(arguments: Setting.all) func agreesWithADictionaryForAllKindsOfValues(_ setting: Setting) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix(seed: seed)
    try setting.with { table, reader throws in
      var expected: [[UInt8]: [UInt8]?] = [:]
      for _ in 0..<40 {
        for _ in 0..<50 {
          let lengths = [1...7, 8...8, 9...15, 16...16, 17...40, 41...300].randomElement(using: &random)!
          let key = (0..<Int.random(in: lengths, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random) }
          switch Int.random(in: 0..<10, using: &random) {
          case 0...1:
            try table.remove(key)
            expected[key] = .some(nil)
          case 2:
            // Behind padding, mostly.
            try table.set(key, key.count)
            expected[key] = withUnsafeBytes(of: key.count) { Array($0) }
          case 3:
            try table.set(key, [1, 2, 3], expires: .after(.seconds(3600)))
            expected[key] = [1, 2, 3]
          case 4:
            try table.set(key, [4, 5], expires: .at(nanosecondsSince1970: 1))
            expected[key] = .some(nil)
          case 5:
            let point = Point(x: key.count, y: 7)
            try table.set(key, point)
            expected[key] = withUnsafeBytes(of: point) { Array($0) }
          default:
            let value = (0..<Int.random(in: 0..<200, using: &random)).map { UInt8($0) }
            try table.set(key, value)
            expected[key] = value
          }
        }
        try reader.read { view throws in
          for (key, wanted) in expected { #expect(try look(view, key) == wanted, "seed \(seed), key \(key)") }
        }
      }
    }
  }

  @Test(arguments: Setting.all) func findsEveryKeyHoweverFullTheBuckets(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      try table.barrier { tx throws in for number in 0..<8000 { try tx.set("key \(number)", "\(number)") } }
      try reader.read { view throws in
        for number in 0..<8000 {
          #expect(try view.get("key \(number)") == "\(number)")
          #expect(try !view.contains("no key \(number)"))
        }
      }
    }
  }

  @Test(arguments: Setting.all) func refusesWhatASingleGetRefuses(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      try table.set("text", "text")
      try table.set("point", Point(x: 1, y: 2))
      let longest = [UInt8](repeating: 1, count: 65_536)
      let tooLong = longest + [1]
      try table.set(longest, 3)
      // Twice: the first section of a thread begins in the general way.
      for _ in 0..<2 {
        try reader.read { view throws in
          #expect(
            error { try view.get("text", as: Int.self) }?.message
              == "the value of 'text' is of type string, not integer; read it as that type, or store it anew")
          #expect(code { try view.get("text", as: Point.self) } == .typeMismatch)
          #expect(code { try view.get("point", as: WiderPoint.self) } == .typeMismatch)
          #expect(code { try view.get("point", as: Int.self) } == .typeMismatch)
          #expect(try view.get("point", as: Point.self)?.y == 2)
          #expect(try view.get(longest) == 3)
          for (key, refusal) in [([], TableError.Code.invalid), (tooLong, .tooLarge)] {
            #expect(code { try view.get(key, as: Int.self) } == refusal)
            #expect(code { try view.contains(key) } == refusal)
            #expect(code { try bytes(view, key) } == refusal)
            #expect(code { try view.entry(forKey: key) } == refusal)
          }
        }
      }
    }
  }

  @Test func aValueIsTheSectionsWhateverIsWrittenOverIt() throws {
    try withTable(.rcu) { table throws in
      for key in ["changed", "removed", "retyped", "expiring"] { try table.set(key, [1, 2, 3]) }
      _ = try table.read { view throws in try view.contains("changed") }
      let writer = try worker(table)
      try table.read { view throws in
        // Committed, and in flight: both are newer than the section.
        try writer.ask("set changed new", expecting: "ok")
        try writer.ask("set added new", expecting: "ok")
        try writer.ask("barrier", expecting: "in")
        try writer.ask("set changed newer", expecting: "ok")
        try writer.ask("remove removed", expecting: "ok")
        try writer.ask("set retyped 7", expecting: "ok")
        for key in ["changed", "removed", "retyped", "expiring"] {
          #expect(try look(view, Array(key.utf8)) == [1, 2, 3], "\(key)")
          #expect(try view.get(key) == [1, 2, 3] as [UInt8], "\(key)")
        }
        #expect(try look(view, Array("added".utf8)) == nil)
        try writer.ask("commit", expecting: "ok")
        _ = try writer.ask("maintain")
        #expect(try look(view, Array("changed".utf8)) == [1, 2, 3])
        #expect(try look(view, Array("removed".utf8)) == [1, 2, 3])
      }
      #expect(try table.get("changed") == "newer")
      #expect(try !table.read { view throws in try view.contains("removed") })
    }
  }

  /// Of a read of one value, too: its section begins and ends with it, and a value's initialiser may read the table.
  @Test(arguments: Setting.all) func expiryIsJudgedByOneInstantInAReadOfOneValue(_ setting: Setting) throws {
    let clock = TestClock()
    try setting.with(clock: clock) { table, reader throws in
      try table.set("short", "s", expires: .after(.seconds(10)))
      let inner = try "short".withKeyBytes { key throws in
        try unsafe reader.segment.withValue(
          key.baseAddress!, key.count, timeoutNanoseconds: .max, clock: ExpiryClock(clock.read)
        ) { _ in
          clock.advance(20)
          return Result { try reader.get("short", as: String.self) }
        }
      }
      #expect(try inner?.get() == "s")
      #expect(try reader.get("short", as: String.self) == nil)
    }
  }

  @Test(arguments: Setting.all) func expiryIsJudgedByOneInstantOfTheSection(_ setting: Setting) throws {
    let clock = TestClock()
    try Setting(variant: setting.variant, way: setting.way).with(clock: clock) { table, reader throws in
      try table.set("short", "s", expires: .after(.seconds(10)))
      try table.set("long", "l", expires: .after(.seconds(100)))
      for _ in 0..<2 {
        try reader.read { view throws in
          #expect(try view.get("short") == "s")
          clock.advance(20)
          #expect(try view.get("short") == "s")
          try reader.read { inner throws in #expect(try inner.contains("short")) }
        }
        // An instant that the section before left behind is not this one's.
        try reader.read { view throws in
          #expect(try !view.contains("short"))
          #expect(try view.get("long") == "l")
        }
        try table.set("short", "s", expires: .after(.seconds(10)))
      }
    }
  }

  // MARK: - Beginning and end

  @Test(arguments: Setting.all) func aSectionInASectionJoinsItAndTheOutermostEndsIt(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      try table.set("k", "1")
      for _ in 0..<2 {
        try reader.read { outer throws in
          for _ in 0..<3 {
            try reader.read { inner throws in
              #expect(inner.version == outer.version)
              #expect(try inner.get("k") == "1")
            }
            #expect(throws: CancellationError.self) { try reader.read { _ throws in throw CancellationError() } }
          }
          // Nothing has ended it yet.
          if setting.way == .participant { #expect(code { try table.set("k", "2") } == .wouldDeadlock) }
          #expect(try outer.get("k") == "1")
        }
        // Nothing holds it any more.
        try table.set("k", "1")
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func inABarrierItIsRefusedAlsoTheSecondTime(_ variant: Table.Variant) throws
  {
    try withTable(variant) { table throws in
      try table.set("k", 1)
      for _ in 0..<3 {
        _ = try table.read { view throws in try view.contains("k") }
        try table.barrier { _ throws in #expect(code { try table.read { _ in } } == .wouldDeadlock) }
        try table.barrier(keys: ["k"]) { tx throws in
          #expect(code { try table.read { _ in } } == .wouldDeadlock)
          #expect(try tx.get("k") == 1)
        }
      }
    }
  }

  /// A thread seeks its record of a table in one of a few places: here others take it while sections are open.
  @Test func sectionsOfManyTablesAreToldApart() throws {
    try onFreshThread {
      let tables = try (0..<40).map { _ in try Table.temporary(capacityBytes: 1 << 20) }
      for (number, table) in tables.enumerated() { try table.set("key", number) }
      func nest(_ number: Int) throws {
        guard number < tables.count else { return }
        try tables[number].read { view throws in
          #expect(try view.get("key") == number)
          try nest(number + 1)
          #expect(try view.get("key") == number)
          #expect(code { try tables[number].set("key", 0) } == .wouldDeadlock)
        }
      }
      for _ in 0..<3 { try nest(0) }
      for (number, table) in tables.enumerated() {
        try table.set("key", number)
        #expect(try table.check() == [])
      }
    }
  }

  /// With an announcement left, what is written would be kept until the budget is used up, and then refused.
  @Test func nothingIsAnnouncedBehindASection() throws {
    try withTable(.rcu, limboBudgetBytes: 1 << 20, policy: .refuse) { table throws in
      let value = [UInt8](repeating: 7, count: 1000)
      try table.set("k", value)
      for _ in 0..<2 {
        #expect(throws: CancellationError.self) { try table.read { _ throws in throw CancellationError() } }
        try table.read { view throws in #expect(try view.get("k") == value) }
        for _ in 0..<4000 { try table.set("k", value) }
      }
    }
  }
}

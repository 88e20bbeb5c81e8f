import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

@Suite struct SharedValueTests {
  @Test(arguments: Table.Variant.allCases) func randomProgramsDoWhatAVariableDoes(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      for seed in 1...5 as ClosedRange<UInt64> {
        var random = SplitMix(seed: seed)
        let value = try SharedValue("n\(seed)", in: table, default: 10)
        let same = try SharedValue("n\(seed)", in: table, default: 10)
        var model = 10
        for step in 0..<300 {
          let x = random.below(20)
          switch random.below(9) {
          case 0:
            try value.set(x)
            model = x
          case 1:
            let sum = try value.increment(by: x)
            model += x
            #expect(sum == model)
          case 2:
            #expect(try value.exchange(x) == model)
            model = x
          case 3:
            let (exchanged, original) = try value.compareExchange(expected: x, desired: x + 1)
            #expect(original == model && exchanged == (model == x))
            if model == x { model = x + 1 }
          case 4:
            try value.mutate { $0 = $0 * 3 % 17 }
            model = model * 3 % 17
          case 5:
            #expect(throws: Stop.self) {
              try value.mutate {
                $0 = -1
                throw Stop()
              }
            }
          case 6:
            try value.remove()
            model = 10
          case 7:
            try value += x
            model += x
          default:
            try value -= x
            model -= x
          }
          #expect(try same.value == model, "seed \(seed), step \(step)")
        }
      }
    }
  }

  @Test func theKeyIsTheNameAndTheValueWhatItIs() throws {
    let table = try Table.temporary()
    let hits = try SharedValue("hits", in: table, default: 5)
    #expect(try hits.value == 5)
    #expect(try table.contains("hits") == false, "a default is not stored")
    try hits.increment()
    #expect(try table.get("hits", as: Int.self) == 6)
    try table.increment("hits")
    #expect(try hits.value == 7)
  }

  @Test func severalValuesChangeInOneBarrierOrNotAtAll() throws {
    let table = try Table.temporary()
    let a = try SharedValue("a", in: table, default: 100)
    let b = try SharedValue("b", in: table, default: 0)
    try table.barrier { tx in
      try a.increment(by: -30, in: &tx)
      try b.mutate(in: &tx) { $0 += 30 }
      #expect(try a.value(in: tx) == 70)
    }
    #expect(throws: Stop.self) {
      try table.barrier { tx in
        try a.set(0, in: &tx)
        try b.set(100, in: &tx)
        throw Stop()
      }
    }
    let (x, y) = try table.read { view in (try a.value(in: view), try b.value(in: view)) }
    #expect(x == 70 && y == 30)
  }

  @Test func anotherTypeUnderTheNameIsRefusedAndStays() throws {
    let table = try Table.temporary()
    let number = try SharedValue("v", in: table, default: 0)
    let text = try SharedValue("v", in: table, default: "")
    try number.set(1)
    for outcome in [
      code { _ = try text.value }, code { try text.set("x") }, code { try text.mutate { $0 += "x" } },
      code { try text.remove() }, code { _ = try text.exchange("x") },
      code { try text.compareExchange(expected: "", desired: "x") },
    ] {
      #expect(outcome == .typeMismatch)
    }
    #expect(try number.value == 1)
  }

  struct Point: SharedStruct, Equatable {
    static let schemaName = "shared-value.point"
    var x = 0
  }

  /// The same schema name, other fields.
  struct WidePoint: SharedStruct, Equatable {
    static let schemaName = "shared-value.point"
    var x = 0
    var y = 0
  }

  @Test(arguments: Table.Variant.allCases, [false, true])
  func aSetTakesThePlaceOfItsOwnFormAndOfWhatIsGone(_ variant: Table.Variant, ofKeys: Bool) throws {
    let clock = TestClock()
    try withTable(variant, clock: clock) { table throws in
      let number = try SharedValue("v", in: table, default: 0)
      let point = try SharedValue("v", in: table, default: Point())
      let widePoint = try SharedValue("v", in: table, default: WidePoint())
      func set<Value: TableValue>(_ shared: SharedValue<Value>, _ value: Value) throws {
        guard ofKeys else { return try table.barrier { tx in try shared.set(value, in: &tx) } }
        try table.barrier(keys: ["v"]) { tx in try shared.set(value, in: &tx) }
      }
      for x in 1...2 { try set(point, Point(x: x)) }
      #expect(code { try set(number, 1) } == .typeMismatch)
      #expect(code { try set(widePoint, WidePoint()) } == .typeMismatch)
      #expect(try point.value == Point(x: 2))

      try table.remove("v")
      for x in 1...2 { try set(number, x) }
      #expect(code { try set(point, Point()) } == .typeMismatch)
      #expect(try number.value == 2)

      try table.set("v", 3, expires: .at(nanosecondsSince1970: clock.now + 1_000_000_000))
      #expect(code { try set(widePoint, WidePoint()) } == .typeMismatch)
      clock.advance(1)
      try set(widePoint, WidePoint(x: 1, y: 2))
      #expect(try widePoint.value == WidePoint(x: 1, y: 2))
    }
  }

  @Test func whatDoesNotFitIsRefusedAndTheValueStays() throws {
    let table = try Table.temporary()
    let small = try SharedValue("small", in: table, default: Int8(127))
    #expect(code { try small.increment() } == .invalid)
    #expect(code { try small -= -1 } == .invalid)
    #expect(try small.value == 127)
    try small -= 127
    #expect(try small.value == 0)
    let counter = try SharedCounter("c", in: table)
    try counter.increment(by: .max)
    #expect(code { try counter.increment() } == .invalid)
    #expect(try counter.value == .max)
  }

  @Test(arguments: Table.Variant.allCases) func noUpdateIsLost(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let name = table.name
      onThreads(4) { _ in
        do {
          let table = try Table.open(name, access: .participant, timeout: .seconds(600))
          @Shared("hits", in: table) var hits = 0
          let text = try SharedValue("text", in: table, default: "")
          let ratio = try SharedValue("ratio", in: table, default: 0.0)
          for _ in 0..<300 {
            try $hits += 1
            try text += "x"
            try ratio += 0.5
          }
        } catch {
          Issue.record(error)
        }
      }
      @Shared("hits", in: table) var hits = 0
      #expect(hits == 1200)
      #expect(try SharedValue("text", in: table, default: "").value.count == 1200)
      #expect(try SharedValue("ratio", in: table, default: 0.0).value == 600)
    }
  }

  struct Page {
    @Shared var hits: Int
    init(_ table: Table) { _hits = Shared(wrappedValue: 7, "hits", in: table) }
    var failure: TableError? { _hits.failure }
  }

  @Test func aPropertyThatCannotBeReadKeepsItsLastValueAndSaysWhy() throws {
    let table = try Table.temporary()
    let page = Page(table)
    #expect(page.hits == 7 && page.failure == nil)
    try page.$hits.set(8)
    #expect(page.hits == 8 && page.failure == nil)
    try table.set("hits", "text")
    #expect(page.hits == 8)
    #expect(page.failure?.code == .typeMismatch)
    #expect(code { _ = try page.$hits.value } == .typeMismatch)
    try table.barrier { _ in #expect(page.hits == 8) }
    #expect(page.failure?.code == .wouldDeadlock)
    try table.set("hits", 9)
    #expect(page.hits == 9 && page.failure == nil)
  }

  /// A value that is an object, whose end runs the program's code.
  final class Token: TableValue {
    @TaskLocal static var atEnd: (@Sendable () -> Void)?
    static let tableType = ValueType.integer
    let number: Int

    init(_ number: Int) { self.number = number }

    required init?(tableBytes: UnsafeRawBufferPointer) {
      guard let number = Int(tableBytes: tableBytes) else { return nil }
      self.number = number
    }

    deinit { Self.atEnd?() }

    func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      try number.withTableBytes(body)
    }
  }

  @Test func theEndOfAPropertysLastValueMayReadTheProperty() throws {
    let table = try Table.temporary()
    let token = Shared(wrappedValue: Token(0), "token", in: table)
    let seen = Counter()
    Token.$atEnd.withValue({ if token.failure == nil { seen.increment() } }) {
      for _ in 0..<3 { _ = token.wrappedValue }
      _ = try? table.set("token", 1)
      for _ in 0..<3 { _ = token.wrappedValue }
    }
    #expect(seen.value > 0)
  }

  @Test(arguments: Table.Variant.allCases) func observersReadAndCannotWrite(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let mine = try SharedValue("v", in: table, default: Color.red)
      let theirs = try SharedValue("v", in: observer(of: table), default: Color.red)
      #expect(try theirs.value == .red)
      try mine.set(.green)
      #expect(try theirs.value == .green)
      #expect(code { try theirs.set(.red) } == .notPermitted)
      #expect(code { try theirs.mutate { $0 = .red } } == .notPermitted)
      let counter = try SharedCounter("c", in: table)
      try counter.increment(by: 3)
      #expect(try SharedCounter("c", in: observer(of: table)).value == 3)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aCounterCountsAndStartsOver(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let counter = try SharedCounter("c", in: table)
      #expect(try counter.value == 0)
      #expect(try counter.increment() == 1)
      #expect(try counter.increment(by: -5) == -4)
      #expect(try table.get("c", as: Int.self) == -4)
      try table.barrier { tx in
        #expect(try counter.increment(by: 10, in: &tx) == 6)
        #expect(try counter.reset(in: &tx) == 6)
        #expect(try counter.value(in: tx) == 0)
        try counter.increment(by: 2, in: &tx)
      }
      #expect(try counter.reset() == 2)
      #expect(try counter.value == 0)
    }
  }

  // MARK: - Expiry

  @Test(arguments: Table.Variant.allCases) func everyChangeButASetKeepsTheExpiry(_ variant: Table.Variant) throws {
    let clock = TestClock()
    try withTable(variant, clock: clock) { table throws in
      let expiry = clock.now + 5_000_000_000
      let number = try SharedValue("n", in: table, default: 0)
      let counter = try SharedCounter("n", in: table)
      let changes: [() throws -> Void] = [
        { try number.mutate { $0 += 1 } }, { try number.exchange(7) },
        { try number.compareExchange(expected: 1, desired: 7) }, { try number.increment() }, { try number += 1 },
        { try number -= 1 }, { try counter.increment() }, { try counter.reset() },
        { try table.barrier { tx in try number.mutate(in: &tx) { $0 += 1 } } },
        { try table.barrier { tx in _ = try counter.increment(in: &tx) } },
      ]
      for (index, change) in changes.enumerated() {
        try table.set("n", 1, expires: .at(nanosecondsSince1970: expiry))
        try change()
        #expect(try table.entry(forKey: "n")?.expiry == expiry, "change \(index)")
      }
      try number.set(2)
      #expect(try table.entry(forKey: "n")?.expiry == nil)

      try table.set("x", 0.5, expires: .at(nanosecondsSince1970: expiry))
      let real = try SharedValue("x", in: table, default: 0.0)
      try real += 1
      try real -= 0.25
      #expect(try real.value == 1.25)
      #expect(try table.entry(forKey: "x")?.expiry == expiry)

      try table.set("t", "a", expires: .at(nanosecondsSince1970: expiry))
      let text = try SharedValue("t", in: table, default: "")
      try text += "b"
      #expect(try text.value == "ab")
      #expect(try table.entry(forKey: "t")?.expiry == expiry)

      try table.set("n", 1, expires: .at(nanosecondsSince1970: expiry))
      clock.advance(5)
      #expect(try number.increment() == 1, "what has expired counts as absent")
      #expect(try table.entry(forKey: "n")?.expiry == nil)
    }
  }

  @Test func everyAwaitedChangeButASetKeepsTheExpiry() async throws {
    let table = try Table.temporary()
    let expiry: UInt64 = 4_000_000_000_000_000_000
    let number = try SharedValue("n", in: table, default: 0)
    try await table.set("n", 1, expires: .at(nanosecondsSince1970: expiry))
    try await number.mutate { $0 += 1 }
    try await number.exchange(7)
    try await number.compareExchange(expected: 7, desired: 8)
    try await number.increment()
    try await number += 1
    try await number -= 1
    try await SharedCounter("n", in: table).reset()
    #expect(try table.entry(forKey: "n")?.expiry == expiry)
    try await number.set(2)
    #expect(try table.entry(forKey: "n")?.expiry == nil)
  }
}

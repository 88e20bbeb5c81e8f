import Glibc
import Observation
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTableObservation

/// A value as an observable object. One that waits for what never comes ends with the test's time.
@Suite(.timeLimit(.minutes(20))) struct ObservableValueTests {
  private func wait(until condition: () -> Bool) async throws {
    while !condition() {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// Calls `change`, and returns once whoever reads by `read` has been told of a change.
  private func waitUntilTold<T>(of read: () -> T, by change: () throws -> Void) async throws {
    let isTold = Atomic(false)
    _ = withObservationTracking(read) { isTold.store(true, ordering: .releasing) }
    try change()
    try await wait { isTold.load(ordering: .acquiring) }
  }

  /// Whoever asks to be told once is told once, though two tasks of the object tell at the same time: the one that follows, and the one that
  /// tells the last change again.
  @Test func whoAsksOnceIsToldOnce() throws {
    try withSmallTable(.rcu) { table in
      let object = try ObservableValue(SharedCounter("n", in: table))
      let (asked, toldTwice) = (Counter(), Counter())
      @Sendable func ask() {
        asked.increment()
        let told = Counter()
        _ = withObservationTracking {
          object.value
        } onChange: {
          told.increment()
          if told.value > 1 { toldTwice.increment() }
          // Else it would not end.
          if asked.value < 50_000 { ask() }
        }
      }
      ask()
      let tellers = (0..<2).map { _ in TestThread { for _ in 0..<20_000 { object.announce(.value) } } }
      for teller in tellers { try teller.join() }
      #expect(asked.value > 1000)
      #expect(toldTwice.value == 0)
    }
  }

  /// A value that is an object, whose end runs the program's code.
  private final class Token: TableValue {
    static let atEnd = Mutex<(@Sendable () -> Void)?>(nil)
    static let tableType = ValueType.integer
    let number: Int

    init(_ number: Int) { self.number = number }

    required init?(tableBytes: UnsafeRawBufferPointer) {
      guard let number = Int(tableBytes: tableBytes) else { return nil }
      self.number = number
    }

    deinit {
      let atEnd = Self.atEnd.withLock { $0 }
      atEnd?()
    }

    func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      try number.withTableBytes(body)
    }
  }

  @Test func theEndOfTheValueBeforeMayReadTheObject() async throws {
    try await withSmallTable(.rcu) { table in
      try await table.set("token", 1)
      let object = try ObservableValue("token", as: Token.self, in: table)
      let seen = Counter()
      Token.atEnd.withLock { $0 = { if object.value?.number == 2 { seen.increment() } } }
      defer { withExtendedLifetime(Token.atEnd.withLock { $0.take() }) {} }
      try await table.set("token", 2)
      try await wait { seen.value > 0 }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whoHasReadItIsToldWhenAnotherProcessChangesIt(_ variant: Table.Variant) async throws {
    try await withSmallTable(variant) { table in
      let object = try ObservableValue(SharedValue("name", in: table, default: "nobody"))
      #expect(object.value == "nobody")
      let other = try worker(table)
      try await waitUntilTold(of: { object.value }) { try other.ask("set name ann", expecting: "ok") }
      try await wait { object.value == "ann" }
      try await waitUntilTold(of: { object.value }) { try table.remove("name") }
      try await wait { object.value == "nobody" }
      #expect(object.failure == nil)
    }
  }

  @Test func itBeginsWithWhatIsThere() async throws {
    try await withSmallTable(.rcu) { table in
      try await table.set("n", 1)
      try await SharedCounter("counter", in: table).increment(by: 2)
      let numbers = try SharedDictionary<String, Int>("numbers", in: table)
      try await numbers.set("k", 3)
      #expect(try ObservableValue("n", as: Int.self, in: table).value == 1)
      #expect(try ObservableValue("absent", as: Int.self, in: table).value == nil)
      #expect(try ObservableValue(SharedCounter("counter", in: table)).value == 2)
      #expect(try ObservableValue("k", in: numbers).value == 3)
      #expect(code { try ObservableValue("n", as: String.self, in: table) } == .typeMismatch)
    }
  }

  /// Neither of what it began with, nor of other keys: the first change to be told is the first of its own.
  @Test func itTellsOfItsOwnChangesAlone() async throws {
    try await withSmallTable(.rcu) { table in
      try await table.set("n", 1)
      let object = try ObservableValue("n", as: Int.self, in: table)
      let seen = Mutex<[Int?]>([])
      @Sendable func observe() {
        // What is told can be read.
        withObservationTracking {
          _ = object.value
        } onChange: {
          seen.withLock { $0.append(object.value) }
          observe()
        }
      }
      observe()
      for round in 0..<100 { try await table.set("other", round) }
      // Whoever follows has looked at the table since then.
      let witness = try ObservableValue("witness", as: Int.self, in: table)
      try await table.set("witness", 1)
      try await wait { witness.value == 1 }
      #expect(seen.withLock { $0 } == [])
      try await table.set("n", 2)
      try await wait { object.value == 2 }
      try await wait { seen.withLock { $0.count >= 2 } }
      #expect(seen.withLock { $0 }.allSatisfy { $0 == 2 }, "once, and once more")
    }
  }

  /// Observation listens only after the reading code has run.
  @Test func whatChangesWhileItIsReadIsToldAfterwards() async throws {
    try await withSmallTable(.rcu) { table in
      try await table.set("n", 1)
      let object = try ObservableValue("n", as: Int.self, in: table)
      let isTold = Atomic(false)
      let reader = TestThread {
        withObservationTracking {
          #expect(object.value == 1)
          #expect(throws: Never.self) { try table.set("n", 2) }
          while object.value != 2 { sched_yield() }
        } onChange: {
          isTold.store(true, ordering: .releasing)
        }
      }
      try await wait { isTold.load(ordering: .acquiring) }
      try reader.join()
    }
  }

  @Test func aSequenceOfObservationsEndsWithTheLastValue() async throws {
    try await withSmallTable(.rcu) { table in
      let object = try ObservableValue(SharedValue("n", in: table, default: 0))
      let writer = Task {
        for number in 1...1000 { try await table.set("n", number) }
      }
      var last = -1
      for await number in Observations({ object.value }) {
        #expect(number >= last)
        last = number
        if number == 1000 { break }
      }
      try await writer.value
      #expect(last == 1000)
    }
  }

  @Test func whyItFollowsNoMoreIsObservable() async throws {
    try await withSmallTable(.rcu) { table in
      try await table.set("n", 1)
      let object = try ObservableValue("n", as: Int.self, in: table)
      try await waitUntilTold(of: { object.failure?.code }) { try table.set("n", "text") }
      try await wait { object.failure?.code == .typeMismatch }
      #expect(object.value == 1)
      let other = try ObservableValue("k", as: Int.self, in: table)
      try await waitUntilTold(of: { other.failure?.code }) { try Table.drop(table.name) }
      try await wait { other.failure?.code == .unlinked }
    }
  }

  /// Its task does not keep it.
  @Test func itEndsWithItsLastReference() async throws {
    try await withSmallTable(.rcu) { table in
      weak var object: ObservableValue<Int>?
      do {
        let held = try ObservableValue(SharedValue("n", in: table, default: 0))
        object = held
        try await table.set("n", 1)
        try await wait { held.value == 1 }
      }
      try await wait { object == nil }
    }
  }
}

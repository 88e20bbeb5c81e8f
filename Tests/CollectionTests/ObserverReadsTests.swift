import Glibc
import Synchronization
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// Reads of several steps through a handle that observes: each starts over where a writer overtook it, as a single `get` does.
@Suite struct ObserverReadsTests {
  @Test(arguments: Table.Variant.allCases)
  func fewStepsSucceedBesideAWriterThatNeverStops(_ variant: Table.Variant) throws {
    try withTable(variant) { table in
      try SharedArray<Int>("array", in: table).append(contentsOf: 0..<100)
      try SharedDictionary<String, Int>("numbers", in: table).merge(["x": 1, "y": 2])
      let reader = try observer(of: table)
      let array = try SharedArray<Int>("array", in: reader)
      let numbers = try SharedDictionary<String, Int>("numbers", in: reader)

      let isOver = Atomic(false)
      let writer = TestThread {
        var number = 0
        while !isOver.load(ordering: .relaxed) {
          try table.set("other\(number % 7)", number)
          number += 1
          // Any commit of that variant overtakes an observer: where no read fits between two of them, the reader is told `busy`.
          if variant == .rwlock { usleep(20) }
        }
      }
      defer {
        isOver.store(true, ordering: .relaxed)
        writer.joinQuietly()
      }
      for _ in 0..<2000 {
        let (element, count) = (try array[3], try array.count)
        #expect(element == 3 && count == 100)
        let (several, all) = (try reader.get(["numbers/x", "none"], as: Int.self), try numbers.count)
        #expect(several == [1, nil] && all == 2)
      }
    }
  }

  /// A number of which a test may say what happens while it is read.
  private struct Interrupted: TableValue, SharedKey {
    static let interruption = Mutex<(@Sendable () -> Void)?>(nil)
    static var tableType: ValueType { Int.tableType }
    static var keyForm: String { Int.keyForm }
    let number: Int

    init(_ number: Int) { self.number = number }

    init?(tableBytes: UnsafeRawBufferPointer) {
      guard let number = Int(tableBytes: tableBytes) else { return nil }
      self.number = number
      Self.interrupt()
    }

    init?(keyBytes: UnsafeRawBufferPointer) {
      guard let number = unsafe Int(keyBytes: keyBytes) else { return nil }
      self.number = number
      Self.interrupt()
    }

    static func interrupt() { interruption.withLock { $0.take() }?() }

    func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      try number.withTableBytes(body)
    }

    func withElementKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      Self.interrupt()
      return try unsafe number.withElementKey(body)
    }
  }

  /// In the rwlock variant any commit overtakes an observer.
  @Test func walksStartOver() throws {
    try withTable(.rwlock) { table in
      try SharedArray<Int>("array", in: table).append(contentsOf: 0..<1000)
      try SharedDictionary<String, Int>("numbers", in: table).merge(["x": 1, "y": 2])
      try SharedSet<Int>("primes", in: table).formUnion([2, 3, 5])
      try SharedDictionary<Int, Int>("squares", in: table).merge([2: 4, 3: 9])
      let reader = try observer(of: table)
      let squares = try SharedDictionary<Interrupted, Int>("squares", in: reader)
      let array = try SharedArray<Interrupted>("array", in: reader)
      let numbers = try SharedDictionary<String, Interrupted>("numbers", in: reader)
      let primes = try SharedSet<Interrupted>("primes", in: reader)
      func interrupt() {
        Interrupted.interruption.withLock {
          $0 = { #expect(throws: Never.self) { try table.increment("interruptions") } }
        }
      }
      interrupt()
      #expect(try array.allElements() == (0..<1000).map(Interrupted.init))
      interrupt()
      #expect(try array.prefix(900).count == 900)
      interrupt()
      #expect(try array.elements(at: 1..<999).count == 998)
      interrupt()
      #expect(try numbers.allElements() == ["x": Interrupted(1), "y": Interrupted(2)])
      interrupt()
      #expect(try reader.get(["numbers/x", "numbers/y"]) == [Interrupted(1), Interrupted(2)])
      interrupt()
      #expect(try primes.allElements() == [Interrupted(2), Interrupted(3), Interrupted(5)])
      interrupt()
      #expect(try primes.subtracting([]).count == 3)
      interrupt()
      #expect(try primes.intersection([Interrupted(1), Interrupted(2)]) == [Interrupted(2)])
      interrupt()
      #expect(try array.last == Interrupted(999))
      interrupt()
      #expect(Set(try squares.keys().map(\.number)) == [2, 3])
      interrupt()
      #expect(Set(try numbers.values().map(\.number)) == [1, 2])
      interrupt()
      #expect(try numbers.prefix(2).count == 2)
      interrupt()
      #expect(Set(try primes.prefix(3).map(\.number)) == [2, 3, 5])
      #expect(try table.get("interruptions") == 13)
    }
  }

  /// What an outer section has shown already is of its version: there is no other one to start over with.
  @Test func inASectionTheyDoNotStartOver() throws {
    try withTable(.rwlock) { table in
      try SharedArray<Int>("array", in: table).append(contentsOf: 0..<100)
      let reader = try observer(of: table)
      let array = try SharedArray<Int>("array", in: reader)
      try reader.read { _ in
        try table.set("other", 1)
        #expect(code { try array[3] } == .snapshotTooOld)
      }
    }
  }
}

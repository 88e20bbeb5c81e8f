import Glibc
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// What one run of an accessor is: one section, all or nothing, each value read once and written once.
@Suite struct AccessorTests {
  @Test(arguments: Table.Variant.allCases) func aComposedAccessorRunsInOneBarrier(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let a = Guarded("a", in: table, default: 10)
      let b = Guarded("b", in: table, default: "")
      let both = a.accessor { $0 -= 1 }.zip(b.accessor { $0 += "x" }, a.accessor { $0 -= 1 }).then { _, _, _ in
        b.accessor { $0 += "y" }
      }
      _ = try both.accessSync()
      let (first, second) = (try table.entry(forKey: "a"), try table.entry(forKey: "b"))
      #expect(first?.version == second?.version)
      #expect(try table.get("a") == 8)
      #expect(try table.get("b") == "xy")
    }
  }

  @Test func aComposedReadSeesOneVersionWhateverIsWrittenMeanwhile() throws {
    try withTable(.rcu) { table throws in
      let a = Guarded("a", in: table, default: 1)
      let b = Guarded("b", in: table, default: 1)
      try a.accessor { $0 = 5 }.zip(b.accessor { $0 = 5 }).map { _ in }.accessSync()
      let other = try worker(table)
      let read = a.accessor { value in
        try other.ask("access-move 1", expecting: "ok")
        return value
      }.zip(b.accessor { $0 }, a.accessor { $0 })
      let (first, second, third) = try read.accessSync()
      #expect((first, second, third) == (5, 5, 5))
      #expect(try table.get("a") == 4)
      try other.finish()
    }
  }

  @Test func inTheRWLockVariantAComposedReadKeepsWritersOut() throws {
    try withTable(.rwlock) { table throws in
      let a = Guarded("a", in: table, default: 1)
      let other = try worker(table)
      let read = a.accessor { value in
        try other.ask("set k v 50", expecting: "error timedOut holder \(getpid())")
        return value
      }
      #expect(try read.accessSync() == 1)
      try other.finish()
    }
  }

  // Not one test for each variant: they would run at once, and count each other's.
  @Test func aValueIsReadOnceAndWrittenOnce() throws {
    for variant in Table.Variant.allCases {
      try withTable(variant) { table throws in
        let value = Guarded("k", in: table, default: Counted(0))
        try value.accessor { $0.number = 1 }.accessSync()
        Counted.reset()
        let look = value.accessor { $0.number }
        #expect(try look.zip(look, look).map { $0 + $1 + $2 }.accessSync() == 3)
        #expect(Counted.counts == [1, 0])

        Counted.reset()
        let add = value.accessor { $0.number += 1 }
        #expect(try add.zip(look, add).then { _ in look }.accessSync() == 3)
        #expect(Counted.counts == [1, 1])

        // A part that only looked writes nothing, also in a barrier.
        Counted.reset()
        let version = try table.entry(forKey: "k")?.version
        #expect(try look.promoted.accessSync() == 3)
        #expect(Counted.counts == [1, 0])
        #expect(try table.entry(forKey: "k")?.version == version)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aChangeThatThrowsLeavesEverythingAsItWas(_ variant: Table.Variant)
    throws
  {
    try withTable(variant) { table throws in
      let a = Guarded("a", in: table, default: 0)
      let b = Guarded("b", in: table, default: "")
      try a.accessor { $0 = 1 }.accessSync()
      let add = a.accessor { $0 += 1 }.zip(b.accessor { $0 += "x" })
      let attempts: [Accessor<Void>] = [
        a.accessor { value in
          value = 9
          throw Refusal()
        },
        add.then { _, _ in b.accessor { (_: inout String) throws -> Void in throw Refusal() } },
        add.then { _, _ in a.accessor { (_: Int) throws -> Void in throw Refusal() } },
        add.map { _, _ in throw Refusal() },
        add.then { _, _ -> Accessor<Void> in throw Refusal() },
        // The last key is none: found out when it is read, after all the others were changed.
        add.then { _, _ in Guarded("", in: table, default: 0).accessor { $0 += 1 } },
      ]
      for (number, attempt) in attempts.enumerated() {
        #expect(throws: (any Error).self, "\(number)") { try attempt.accessSync() }
        #expect(try table.get("a") == 1, "\(number)")
        #expect(try table.contains("b") == false, "\(number)")
      }
      _ = try add.accessSync()
      #expect(try table.get("a") == 2)
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatDoesNotFitIsUndoneAsAWhole(_ variant: Table.Variant) throws {
    try withTable(variant, capacityBytes: 1 << 20) { table throws in
      let a = Guarded("a", in: table, default: 0)
      let big = Guarded("big", in: table, default: [UInt8]())
      let grow = a.accessor { $0 += 1 }.zip(big.accessor { $0 = [UInt8](repeating: 1, count: 1 << 20) })
      #expect(code { _ = try grow.accessSync() } == .tooLarge)
      #expect(table.count == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases) func anAbsentValueIsTheInitialOne(_ variant: Table.Variant) throws {
    let clock = Mutex<UInt64>(1_000_000_000_000)
    try withTable(variant) { created throws in
      let table = try Table.open(created.name, clock: { clock.withLock { $0 } })
      let a = Guarded("a", in: table, default: 7)
      #expect(try a.accessor { $0 }.accessSync() == 7)
      #expect(table.count == 0)
      try table.set("a", 1, expires: .after(.seconds(10)))
      try a.accessor { $0 += 1 }.accessSync()
      #expect(try table.get("a") == 2)
      clock.withLock { $0 += 11_000_000_000 }
      // It kept its time, and when that has come begins anew, for good.
      #expect(try a.accessor { $0 }.accessSync() == 7)
      try a.accessor { $0 += 1 }.accessSync()
      clock.withLock { $0 += 1_000_000_000_000 }
      #expect(try a.accessor { $0 }.accessSync() == 8)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aValueOfAnotherTypeIsRefused(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      try table.set("k", "text")
      let number = Guarded("k", in: table, default: 0)
      #expect(code { _ = try number.accessor { $0 }.accessSync() } == .typeMismatch)
      #expect(code { try number.accessor { $0 += 1 }.accessSync() } == .typeMismatch)
      #expect(try table.get("k") == "text")

      // The same key as two types in one run: the second sees what the first has stored.
      let bytes = Guarded("b", in: table, default: [UInt8]())
      let twin = Guarded("b", in: table, default: Octet(0))
      let mixed = bytes.accessor { $0 = [5] }.then { twin.accessor { $0.number += 1 } }.then { bytes.accessor { $0 } }
      #expect(try mixed.accessSync() == [6])
      let text = Guarded("b", in: table, default: "")
      #expect(code { _ = try bytes.accessor { $0 = [7] }.then { text.accessor { $0 } }.accessSync() } == .typeMismatch)
      #expect(try table.bytes(forKey: "b") == [6])
    }
  }

  // MARK: - Another table

  @Test(arguments: Table.Variant.allCases) func valuesOfTwoTablesAreRefusedAtOnce(_ variant: Table.Variant) throws {
    try withTable(variant) { one throws in
      try withTable(variant) { two throws in
        let ran = Atomic(false)
        let a = Guarded("k", in: one, default: 0)
        let b = Guarded("k", in: two, default: 0)
        let inOne = a.accessor { value in
          value += 1
          ran.store(true, ordering: .relaxed)
        }
        let inTwo = b.accessor { $0 += 1 }
        let add: @Sendable () -> Void = {}
        let mixtures: [Accessor<Void>] = [
          inOne.zip(inTwo).map { _ in }, inTwo.zip(inOne).map { _ in }, inOne.zip(inOne, inTwo).map { _ in },
          inOne.zip(inOne, inOne, inTwo).map { _ in }, inOne.zip(inOne, inOne, inOne, inTwo).map { _ in },
          inOne.map { { @Sendable (_: Void) throws -> Void in add() } }.apply(inTwo),
          inOne.zip(b.accessor { $0 }).map { _ in },
        ]
        for (number, mixture) in mixtures.enumerated() {
          let refusal = error { try mixture.accessSync() }
          #expect(refusal?.code == .wrongTable, "\(number)")
          #expect(refusal?.description.contains(one.name) == true && refusal?.description.contains(two.name) == true)
          #expect(code { try mixture.accessSync(on: one) } == .wrongTable)
          #expect(code { try mixture.accessAsync().wait() } == .wrongTable)
        }
        #expect(code { _ = try a.accessor { $0 }.zip(b.accessor { $0 }).accessSync() } == .wrongTable)
        #expect(code { _ = try a.accessor { $0 }.accessSync(on: two) } == .wrongTable)
        #expect(code { try inOne.accessSync(on: two) } == .wrongTable)
        let anyRan = ran.load(ordering: .relaxed)
        #expect(!anyRan)

        // Met on the way: what came before is undone.
        #expect(code { try inOne.then { inTwo }.accessSync() } == .wrongTable)
        #expect(code { _ = try a.accessor { $0 }.then { _ in b.accessor { $0 } }.accessSync() } == .wrongTable)
        #expect(code { _ = try a.accessor { $0 }.then { _ in inTwo }.accessSync() } == .wrongTable)
        #expect(code { try inOne.then { inOne.zip(inTwo).map { _ in } }.accessSync() } == .wrongTable)
        #expect(one.count == 0)
        #expect(two.count == 0)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func twoHandlesOfOneTableAreOneTable(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let again = try Table.open(table.name)
      let observer = try Table.open(table.name, access: .observer)
      let a = Guarded("a", in: table, default: 0)
      let b = Guarded("b", in: again, default: 0)
      let seen = Guarded("a", in: observer, default: 0)
      _ = try a.accessor { $0 += 1 }.zip(b.accessor { $0 += 1 }).accessSync()
      #expect(try seen.accessor { $0 }.accessSync() == 1)
      #expect(code { try seen.accessor { $0 += 1 }.accessSync() } == .notPermitted)
      // An observer's value beside a participant's: the participant's handle does it.
      #expect(try seen.accessor { $0 }.zip(b.accessor { $0 += 1 }).map { $0.0 }.accessSync() == 1)
      try seen.accessor { $0 += 1 }.accessSync(on: table)
      #expect(try a.accessor { $0 }.accessSync(on: observer) == 2)
      #expect(try table.get("b") == 2)
    }
  }

  // MARK: - G11

  @Test(arguments: Table.Variant.allCases) func anAccessInsideASectionIsAnErrorOrJoinsIt(_ variant: Table.Variant)
    throws
  {
    try withTable(variant) { table throws in
      let a = Guarded("a", in: table, default: 0)
      let look = a.accessor { $0 }
      let add = a.accessor { $0 += 1 }
      #expect(code { try table.barrier { _ in try add.accessSync() } } == .wouldDeadlock)
      #expect(code { try table.read { _ in try add.accessSync() } } == .wouldDeadlock)
      #expect(code { try a.accessor { _ in try add.accessSync() }.accessSync() } == .wouldDeadlock)
      #expect(code { try table.barrier { _ in _ = try look.accessSync() } } == .wouldDeadlock)
      #expect(try table.read { _ in try look.accessSync() } == 0)
      #expect(table.count == 0)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aWaitThatIsTooLongNamesTheHolder(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let a = Guarded("a", in: table, default: 0)
      let holder = try worker(table)
      try holder.ask("barrier", expecting: "in")
      let refusal = error { try a.accessor { $0 += 1 }.accessSync(timeout: .milliseconds(20)) }
      #expect(refusal?.code == .timedOut)
      #expect(refusal?.holder?.pid == holder.pid)
      try holder.ask("commit", expecting: "ok")
      try holder.finish()
    }
  }

  // MARK: - Other processes

  @Test(arguments: Table.Variant.allCases) func aChangeIsAllOrNothingWhenItsProcessDies(_ variant: Table.Variant) throws
  {
    try withTable(variant) { table throws in
      let doomed = try worker(table)
      try doomed.ask("access-move 3", expecting: "ok")
      try doomed.ask("access-stepwise", expecting: "in")
      try doomed.killAndWait()
      let sum = Guarded("a", in: table, default: 0).accessor { $0 }.zip(
        Guarded("b", in: table, default: 0).accessor { $0 })
      let (a, b) = try sum.accessSync()
      #expect((a, b) == (-3, 3))

      let heir = try worker(table)
      try heir.ask("access-stepwise", expecting: "in")
      try heir.ask("off", expecting: "aborted")
      try heir.ask("access-stepwise", expecting: "in")
      try heir.ask("on", expecting: "ok")
      try heir.finish()
      #expect(try table.get("a") == -4)
      #expect(try table.get("b") == 4)
    }
  }

  @Test(arguments: Table.Variant.allCases) func processesThatMoveKeepTheSum(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let movers = [try worker(table), try worker(table)]
      for mover in movers { try mover.send("access-move 500") }
      let look = Guarded("a", in: table, default: 0).accessor { $0 }.zip(
        Guarded("b", in: table, default: 0).accessor { $0 })
      repeat {
        let (a, b) = try look.accessSync()
        #expect(a + b == 0)
      } while !movers.allSatisfy { $0.hasOutput }
      for mover in movers {
        try mover.expectLine("ok")
        try mover.finish()
      }
      #expect(try table.get("b") == 1000)
    }
  }
}

/// A number of one byte, stored as bytes.
private struct Octet: TableValue {
  var number: UInt8

  init(_ number: UInt8) { self.number = number }
  static var tableType: ValueType { .bytes }
  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try [number].withTableBytes(body)
  }
  init?(tableBytes: UnsafeRawBufferPointer) {
    guard tableBytes.count == 1 else { return nil }
    number = tableBytes[0]
  }
}

/// The same, and counts how often one was decoded and encoded. For one test only.
private struct Counted: TableValue {
  private static let decoded = Atomic(0)
  private static let encoded = Atomic(0)
  var number: UInt8

  init(_ number: UInt8) { self.number = number }

  static func reset() {
    decoded.store(0, ordering: .relaxed)
    encoded.store(0, ordering: .relaxed)
  }
  static var counts: [Int] { [decoded.load(ordering: .relaxed), encoded.load(ordering: .relaxed)] }

  static var tableType: ValueType { .bytes }
  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    Self.encoded.add(1, ordering: .relaxed)
    return try [number].withTableBytes(body)
  }
  init?(tableBytes: UnsafeRawBufferPointer) {
    Self.decoded.add(1, ordering: .relaxed)
    guard tableBytes.count == 1 else { return nil }
    number = tableBytes[0]
  }
}

import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// The pages on what people bring along: what each shows on the left and on the right gives the same.
@Suite struct PatternTests {
  @Test(arguments: Table.Variant.allCases) func aCacheSeesItsOwnWritesAndMakesWhatIsMissingOnce(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let (ours, theirs) = (try HostThumbnailCache(table), ThumbnailCache())
      try ours.store([1], as: "a")
      theirs.store([1], as: "a")
      #expect(try ours.thumbnail("a") == [1])
      #expect(theirs.thumbnail("a") == [1])
      let made = Counter()
      let other = try HostThumbnailCache(table)
      var asking: TestThread<[UInt8]>?
      let thumbnail = try ours.thumbnail("b") {
        made.increment()
        asking = TestThread {
          try other.thumbnail("b") {
            made.increment()
            return [3]
          }
        }
        asking?.waitUntilAsleep()  // waiting for this closure
        return [2]
      }
      #expect(thumbnail == [2])
      #expect(try asking?.join() == [2])
      #expect(made.value == 1)
      #expect(try ours.thumbnail("b") == [2])
      #expect(theirs.thumbnail("b") { [2] } == [2])
    }
  }

  @Test(arguments: Table.Variant.allCases) func anArrayKeepsTheOrderOfWhoAppends(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let (ours, theirs) = (try HostEventList(table), EventList())
      #expect(try ours.last == nil)
      for number in 1...20 {
        try ours.append("\(number)")
        theirs.append("\(number)")
      }
      #expect(try ours.last == "20")
      #expect(theirs.last == "20")
      try ours.keep(3)
      theirs.keep(3)
      try ours.append("21")
      theirs.append("21")
      #expect(try ours.last == theirs.last)
      #expect(try SharedArray<String>("events", in: table).allElements() == ["18", "19", "20", "21"])
    }
  }

  @Test func aSingletonIsOneForAllHandles() throws {
    try withTableName { (name: String) throws -> Void in
      let (first, second) = (try Table.create(name), try Table.open(name))
      let (one, other) = (try HostPrinter(in: first), try HostPrinter(in: second))
      #expect(one.serial == other.serial)
      #expect(Printer.shared.serial == Printer.shared.serial)
      try one.print(3)
      Printer.shared.print(3)
      #expect(try other.printed == Printer.shared.printed)
    }
  }

  @Test(arguments: Table.Variant.allCases) func anActorGrantsNoMoreThanTheBudget(_ variant: Table.Variant) async throws
  {
    try await withTable(variant) { table throws in
      let printers = try (0..<2).map { _ in try HostPrinterActor(in: table) }
      let granted = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<20 { group.addTask { try await printers[number % 2].print(3, budget: 10) } }
        return try await group.reduce(0, +)
      }
      #expect(granted == 10)
    }
  }

  @Test(arguments: Table.Variant.allCases) func anAccessorOnAQueueSeesWhatWasSubmittedBefore(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let (ours, theirs) = (try HostShelf(table), Shelf())
      for number: UInt8 in 1...50 {
        try ours.order(number)
        theirs.order(number)
        #expect(try ours.left == 100 - Int(number))
        #expect(theirs.left == 100 - Int(number))
      }
      #expect(try ours.orders.accessor { $0 }.accessSync() == theirs.orders.read { $0 })
    }
  }

  @Test(arguments: Table.Variant.allCases) func transfersThatCrossKeepTheSum(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let (one, other) = (HostAccount("one", in: table), HostAccount("other", in: table))
      try one.deposit(100).accessSync()
      try other.deposit(100).accessSync()
      onThreads(40) { number in
        do {
          if number.isMultiple(of: 2) {
            try transfer(number, from: one, to: other)
          } else {
            try transfer(number, from: other, to: one)
          }
        } catch is TooLittle {
          // Then neither has changed.
        } catch {
          Issue.record("\(error)")
        }
        #expect((try? sum(one, other)) == 200)
      }
      let (mine, yours) = (Account(100), Account(100))
      try transfer(30, from: mine, to: yours)
      #expect(mine.read { $0 } + yours.read { $0 } == 200)
      #expect(throws: TooLittle.self) { try transfer(300, from: one, to: other) }
      #expect(try sum(one, other) == 200)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aSharedPropertyLosesNoUpdate(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let requests = HostRequests(table)
      onThreads(40) { number in
        do {
          if number.isMultiple(of: 2) { try requests.serve("/") } else { try requests.serveAlone() }
        } catch {
          Issue.record("\(error)")
        }
      }
      #expect(requests.count == 40)
      #expect(try requests.summary == "40, last /")
      let own = Requests()
      own.serve("/")
      #expect(own.summary == "1, last /")
    }
  }
}

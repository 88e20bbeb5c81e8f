import CShims
import SharedMemory
import SharedTable
import TableEngine
import TableTestSupport
import TestSupport
import Testing

/// Reading the change log, as participant and as observer.
@Suite struct ChangeLogTests {
  /// Reads on until the log's end.
  private static func readOn(_ segment: Segment, _ cursor: inout ChangeCursor) throws -> ([LoggedChange], UInt64) {
    var changes: [LoggedChange] = []
    var missed: UInt64 = 0
    while true {
      let batch = try segment.readChanges(&cursor, limit: 100)
      missed += batch.missed
      changes += batch.changes
      if batch.isAtEnd { return (changes, missed) }
    }
  }

  private static func text(_ change: LoggedChange) -> String {
    (change.isRemoval ? "-" : "+") + String(decoding: change.key, as: UTF8.self)
  }

  private func withReaders(
    _ variant: Table.Variant, _ body: (_ table: Table, _ segment: Segment) throws -> Void
  ) throws {
    for access in [AccessRequest.participant, .observer] {
      try withSmallTable(variant) { table in try body(table, try Segment.open(table.name, access)) }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func changesAreToldInTheirOrder(_ variant: Table.Variant) throws {
    try withReaders(variant) { table, segment in
      try table.set("before", 1)
      var cursor = segment.changeCursor()
      try table.set("a", 1)
      try table.barrier { tx in
        try tx.set("b", 1)
        try tx.set("a", 2)
        _ = try tx.remove("b")
        _ = try tx.remove("was never there")
      }
      struct Undo: Error {}
      try? table.barrier { tx in
        try tx.set("undone", 1)
        throw Undo()
      }
      try table.remove("before")
      let (changes, missed) = try Self.readOn(segment, &cursor)
      #expect(changes.map(Self.text) == ["+a", "+b", "+a", "-b", "-before"])
      #expect(missed == 0)
      #expect(Set(changes[1...3].map(\.version)).count == 1)
      #expect(changes[0].version < changes[1].version && changes[3].version < changes[4].version)
      #expect(try Self.readOn(segment, &cursor).0 == [])
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whatIsNotCommittedIsNotTold(_ variant: Table.Variant) throws {
    try withReaders(variant) { table, segment in
      try table.set("old", 1)
      var cursor = segment.changeCursor()
      var whole = ChangeCursor(after: 0)
      let victim = try worker(table)
      try victim.ask("barrier", expecting: "in")
      try victim.ask("set new 1", expecting: "ok")
      #expect(try Self.readOn(segment, &cursor).0 == [])
      // Taken while a barrier is open, a cursor stands where it should all the same.
      var late = segment.changeCursor()
      try victim.killAndWait()
      try table.set("next", 1)
      for cursor in [cursor, late] {
        var cursor = cursor
        #expect(try Self.readOn(segment, &cursor).0.map(Self.text) == ["+next"])
      }
      #expect(try Self.readOn(segment, &whole).0.map(Self.text) == ["+old", "+next"])
      late = cursor
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func fromAnyVersionOnTheRestIsTold(_ variant: Table.Variant) throws {
    try withReaders(variant) { table, segment in
      for round in 0..<20 { try table.set("key \(round)", round) }
      var cursor = ChangeCursor(after: 0)
      let all = try Self.readOn(segment, &cursor).0
      #expect(all.count == 20)
      for version in 0...table.version {
        var cursor = ChangeCursor(after: version)
        let (changes, missed) = try Self.readOn(segment, &cursor)
        #expect(changes == all.filter { $0.version > version })
        #expect(missed == 0)
      }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func whoIsOvertakenIsToldByHowMuch(_ variant: Table.Variant) throws {
    try withReaders(variant) { table, segment in
      var cursor = segment.changeCursor()
      try table.set("first", 0)
      #expect(try Self.readOn(segment, &cursor).0.count == 1)
      let total = 8000  // the log of the smallest table holds 256 KiB, some 5,400 of these
      for round in 0..<total { try table.set("a key of 21 bytes \(round % 100)", round) }
      let seen = table.version
      try table.set("last", 0)
      let (changes, missed) = try Self.readOn(segment, &cursor)
      #expect(Int(missed) + changes.count == total + 1)
      #expect(missed > 1000 && changes.count > 4000)
      #expect(Self.text(changes.last!) == "+last")
      for (one, next) in zip(changes, changes.dropFirst()) { #expect(one.version < next.version) }
      // A version that the log no longer reaches back to, and one that it does.
      var early = ChangeCursor(after: 1)
      #expect(try Self.readOn(segment, &early).1 > 0)
      var recent = ChangeCursor(after: seen)
      let (rest, gap) = try Self.readOn(segment, &recent)
      #expect(rest.map(Self.text) == ["+last"] && gap == 0)
    }
  }

  /// Of each prefix and each version it is known whether a record was lost, but for few that are said to be and are not.
  @Test(arguments: Table.Variant.allCases)
  func ofWhichPrefixesRecordsWereLostIsKnown(_ variant: Table.Variant) throws {
    try withReaders(variant) { table, segment in
      var random = SplitMix(seed: 7)
      let families = ["a", "ab", "cacheA/", "cacheB/", "user.", "a family of keys/", "keys of another family/"]
      var logged: [(key: [UInt8], version: UInt64)] = []
      var keys = Set<[UInt8]>()
      for round in 0..<12_000 {
        // One family after the other: those of the first ones are lost.
        let key = Array("\(families[round * families.count / 12_000])\(random.below(20))".utf8)
        if random.below(3) == 0 {
          guard try table.remove(key) else { continue }
        } else {
          try table.set(key, round)
        }
        keys.insert(key)
        logged.append((key, table.version))
      }
      var cursor = ChangeCursor(after: 0)
      let (left, missed) = try Self.readOn(segment, &cursor)
      #expect(Int(missed) + left.count == logged.count && missed > 4_000 && left.count > 3_000)
      let lost = logged.dropLast(left.count)
      let prefixes = Set(keys.flatMap { key in (1...key.count).map { key.prefix($0) } })
      var (falseAlarms, asked) = (0, 0)
      for prefix in prefixes {
        let newest = lost.last { $0.key.starts(with: prefix) }?.version ?? 0
        for version in [0, newest &- 1, newest, lost.last!.version / 2, lost.last!.version]
        where version <= table.version {
          let mayBe = segment.mayHaveLostChanges(of: Array(prefix), after: version)
          if newest > version { #expect(mayBe, "\(prefix) after \(version)") }
          if prefix.count > 2 { (falseAlarms, asked) = (falseAlarms + (mayBe && newest <= version ? 1 : 0), asked + 1) }
        }
      }
      #expect(asked > 500 && falseAlarms < asked / 5, "\(falseAlarms) of \(asked)")
    }
  }

  /// A repair may give keys up without a record.
  @Test(arguments: Table.Variant.allCases)
  func afterARepairOfTheLogAnythingMayBeLost(_ variant: Table.Variant) throws {
    try withSmallTable(variant) { table in
      try table.set("key", 1)
      table.segment.data.storeRelaxed(
        DataLayout.logTailPosition, table.segment.data.loadRelaxed(DataLayout.logTailPosition) + 8)
      let seen = table.version
      #expect(try !table.repair().problems.isEmpty)
      #expect(table.segment.mayHaveLostChanges(of: Array("any".utf8), after: seen))
    }
  }

  /// No reader gets past such a record, so a check must find it.
  @Test(arguments: Table.Variant.allCases, [0, 9, 1 << 63])
  func aKeyOfALengthThatCannotBeIsDamageAndIsBegunAnew(_ variant: Table.Variant, length: UInt64) throws {
    try withReaders(variant) { table, segment in
      var cursor = segment.changeCursor()
      let data = table.segment.data
      let record = DataLayout.log + Int(data.loadRelaxed(DataLayout.logEndPosition))
      try table.set("a", 1)
      data.storeRelaxed(record + shm_log_record_key_length_offset, length)
      #expect(throws: EngineError.self) { try segment.readChanges(&cursor) }
      #expect(try table.check().contains { $0.contains("change log") })
      #expect(try table.repair().isRepaired)
      #expect(try table.check() == [])
      let (changes, missed) = try Self.readOn(segment, &cursor)
      #expect(changes == [] && missed > 0)
      #expect(try table.get("a") == 1)
    }
  }

  /// The log itself was whole: a reader that has read all of it is told all the same that it missed something.
  @Test(arguments: Table.Variant.allCases)
  func afterARepairThatGaveKeysUpAnythingMayBeLost(_ variant: Table.Variant) throws {
    try withReaders(variant) { table, segment in
      for index in 0..<100 { try table.set("key \(index)", index) }
      var cursor = segment.changeCursor()
      #expect(try Self.readOn(segment, &cursor).1 == 0)
      let seen = table.version
      try table.loseWords()
      #expect(try table.repair().droppedCount == 1)
      #expect(try Self.readOn(segment, &cursor).1 > 0)
      #expect(table.segment.mayHaveLostChanges(of: Array("any".utf8), after: seen))
      try table.set("after", 1)
      #expect(try Self.readOn(segment, &cursor).0.map(Self.text) == ["+after"])
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func aReaderBesideAWriterCountsEveryRecordOnce(_ variant: Table.Variant) throws {
    try withReaders(variant) { table, segment in
      var cursor = segment.changeCursor()
      let writer = try worker(table)
      try writer.send("change 7 5000 200")
      var total: UInt64?
      var told: UInt64 = 0
      var version: UInt64 = 0
      while true {
        // Looked at before the log is read to its end: then nothing is to come.
        if total == nil, writer.hasOutput {
          let words = try writer.readLine().split(separator: " ")
          total = UInt64(words[1])
        }
        let batch = try segment.readChanges(&cursor, limit: 50)
        told += batch.missed + UInt64(batch.changes.count)
        for change in batch.changes {
          #expect(change.version >= version)
          version = change.version
          #expect(Self.text(change).dropFirst().hasPrefix("key "))
        }
        if total != nil, batch.isAtEnd { break }
      }
      // Records of undone barriers that were pushed out before they were undone may count as missed; there were none.
      #expect(told == total)
      try writer.finish()
    }
  }

  /// G8: whatever the bytes, there are records or an error, and an end.
  @Test(arguments: Table.Variant.allCases)
  func scribbledLogsAreErrorsOrRecordsAndNoCrash(_ variant: Table.Variant) throws {
    var damaged = 0
    for seed in 1...36 as ClosedRange<UInt64> {
      try withTableName { (name: String) throws -> Void in
        var random = SplitMix(seed: seed)
        let table = try Table.create(name, .init(variant: variant, capacityBytes: 1 << 20))
        for round in 0..<(seed % 12 == 0 ? 8000 : 100) { try table.set("key \(round % 50)", round) }
        let segment = try Segment.open(name, .observer)
        let object = try SharedObject.open(name: "shmtable.\(name).data", writable: true)
        let mapping = try object.map(count: try object.status().size, writable: true)
        var cursors = [segment.changeCursor(), ChangeCursor(after: 0), ChangeCursor(after: table.version / 2)]
        for _ in 0..<40 {
          for _ in 0..<random.below(4) {
            let words = [
              DataLayout.logEndPosition, DataLayout.logEndOrdinal, DataLayout.logTailPosition, DataLayout.committed,
            ]
            let inHeader = random.below(4) == 0
            let offset = inHeader ? words[random.below(4)] : DataLayout.log + random.below(500) * 8
            var value = random.next()
            switch random.below(4) {
            case 0: value = mapping.withBase { shm_load_relaxed($0 + offset) } ^ (1 << UInt64(random.below(64)))
            case 1: value &= 0xffff
            case 2: value = value & 0xfff | 1 << 32
            default: break
            }
            mapping.withBase { shm_store_relaxed($0 + offset, value) }
          }
          for index in cursors.indices {
            do throws(EngineError) {
              for _ in 0..<20 where try segment.readChanges(&cursors[index], limit: 200).isAtEnd { break }
            } catch {
              if case .damaged = error { damaged += 1 }
              cursors[index] = ChangeCursor(after: random.next() & 0xff)
            }
          }
        }
      }
    }
    #expect(damaged > 60)
  }
}

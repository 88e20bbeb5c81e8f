import SharedTable
import Synchronization
import TableEngine
import TableTestSupport
import TestSupport
import Testing

private struct Refusal: Error {
  var number = 0
}

/// Parts of a barrier that fail by themselves (G2 for each).
@Suite struct SavepointTests {
  @Test(arguments: Setting.all) func aPartThatThrowsUndoesItsOwnChangesAndNoMore(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      try table.set("overwritten", "old")
      try table.set("removed", "old")
      try table.barrier { (tx: inout Transaction) throws in
        try tx.set("before", 1)
        try tx.set("overwritten", "before")
        failingPart(&tx) { (part: inout Transaction) throws in
          // The same key before and in the part, and twice in it; removed and set again, and the other way round.
          try part.set("before", 2)
          try part.set("before", 3)
          #expect(try part.remove("overwritten"))
          try part.set("overwritten", "in")
          try part.set("new", [UInt8](repeating: 1, count: 100_000))
          #expect(try part.remove("new"))
          #expect(try part.remove("removed"))
          #expect(try part.get("removed", as: String.self) == nil)
          #expect(try part.get("before") == 3)
        }
        #expect(try tx.get("before") == 1)
        #expect(try tx.get("overwritten") == "before")
        #expect(try tx.get("removed") == "old")
        #expect(try tx.entry(forKey: "new") == nil)
        #expect(try tx.keys() == ["before", "overwritten", "removed"].map { Array($0.utf8) })
        try tx.set("after", 1)
        try tx.set("before", 4)
      }
      #expect(reader.count == 4)
      #expect(try reader.get("before") == 4)
      #expect(try reader.get("overwritten") == "before")
      #expect(try reader.get("removed") == "old")
      #expect(try reader.get("after") == 1)
    }
  }

  @Test func aPartsErrorKeepsItsType() throws {
    try withTable(.rcu) { table throws in
      try table.barrier { (tx: inout Transaction) throws in
        do throws(Refusal) {
          try tx.withSavepoint { (_: inout Transaction) throws(Refusal) in throw Refusal(number: 7) }
          Issue.record("nothing was thrown")
        } catch {
          #expect(error.number == 7)
        }
      }
    }
  }

  @Test(arguments: Setting.all) func aPartThatReturnsStandsAndGivesItsResult(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      let sum = try table.barrier { (tx: inout Transaction) throws in
        let first = try tx.withSavepoint { (part: inout Transaction) throws in try part.increment("n", by: 2) }
        return try first + tx.withSavepoint { (part: inout Transaction) throws in try part.increment("n", by: 3) }
      }
      #expect(sum == 7)
      #expect(try reader.get("n") == 5)
    }
  }

  @Test(arguments: Setting.all) func anOuterPartThatThrowsUndoesTheInnerOnesToo(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      try table.barrier { (tx: inout Transaction) throws in
        try tx.set("a", 0)
        failingPart(&tx) { (outer: inout Transaction) throws in
          try outer.set("a", 1)
          try outer.withSavepoint { (inner: inout Transaction) throws in try inner.set("b", 1) }
          failingPart(&outer) { (inner: inout Transaction) throws in
            try inner.set("a", 2)
            try inner.remove("b")
          }
          #expect(try outer.get("a") == 1)
          #expect(try outer.get("b") == 1)
        }
        #expect(try tx.get("a") == 0)
        #expect(try !tx.contains("b"))
        try tx.set("c", 1)
      }
      #expect(reader.count == 2)
      #expect(try reader.get("a") == 0)
      #expect(try reader.get("c") == 1)
    }
  }

  @Test(arguments: Setting.all) func aBarrierThatThrowsAfterARollbackLeavesNothing(_ setting: Setting) throws {
    try setting.with { table, reader throws in
      try fill(table, 0..<500)
      #expect(throws: Refusal.self) {
        try table.barrier { (tx: inout Transaction) throws in
          for index in 0..<100 { try tx.set("k\(index)", -1) }
          failingPart(&tx) { (part: inout Transaction) throws in
            for index in 0..<500 { try part.remove("k\(index)") }
            for index in 0..<5000 { try part.set("new\(index)", index) }
          }
          for index in 50..<150 { try tx.set("k\(index)", -2) }
          throw Refusal()
        }
      }
      #expect(reader.count == 500)
      for index in 0..<500 { #expect(try reader.get("k\(index)") == index) }
    }
  }

  // MARK: - What a part may have done to the table

  @Test(arguments: Table.Variant.allCases) func splitsOfAPartAreUndoneWithIt(_ variant: Table.Variant) throws {
    try Setting(variant: variant, way: .observer).with { table, reader throws in
      let work = try #require(table.segment.work)
      try fill(table, 0..<200)
      for round in 0..<2 {
        try table.barrier { (tx: inout Transaction) throws in
          for index in 0..<100 { try tx.set("k\(index)", index + round) }
          let moved = work.wordsMoved
          failingPart(&tx) { (part: inout Transaction) throws in
            for index in 0..<5000 { try part.set("new\(index)", index) }
            for index in 0..<200 { try part.set("k\(index)", -1) }
          }
          #expect(work.wordsMoved > moved, "nothing was split")
          for index in 0..<200 { #expect(try tx.get("k\(index)") == (index < 100 ? index + round : index)) }
          #expect(try tx.entry(forKey: "new7") == nil)
        }
        #expect(reader.count == 200)
        #expect(try table.check() == [])
      }
      // And then they are split for good.
      try table.barrier { (tx: inout Transaction) throws in
        for index in 0..<5000 { try tx.set("new\(index)", index) }
        failingPart(&tx) { (part: inout Transaction) throws in
          for index in 0..<5000 { try part.remove("new\(index)") }
        }
      }
      #expect(reader.count == 5200)
      for index in 0..<5000 { #expect(try reader.get("new\(index)") == index) }
    }
  }

  @Test(arguments: Table.Variant.allCases) func theChangeLogDoesNotSayWhatWasUndone(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      func records() -> UInt64 { table.segment.data.loadRelaxed(DataLayout.logEndOrdinal) }
      let before = records()
      try table.barrier { (tx: inout Transaction) throws in
        try tx.set("a", 1)
        failingPart(&tx) { (part: inout Transaction) throws in
          try part.set("b", 1)
          try part.remove("a")
        }
        try tx.set("c", 1)
      }
      #expect(records() - before == 2)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aPartThatFillsTheChangeLogLeavesItSound(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      let long = String(repeating: "k", count: 3000)
      for round in 0..<4 {
        try table.barrier { (tx: inout Transaction) throws in
          try tx.set("kept \(round)", round)
          // Of 256 KiB: less than what it holds, more, and much more.
          for count in [20, 100, 400] {
            failingPart(&tx) { (part: inout Transaction) throws in
              for index in 0..<count { try part.set("\(long)\(index)", index) }
            }
            try tx.set("kept \(round)", count)
          }
          if round == 3 { for index in 0..<100 { try tx.set("\(long)\(index)", index) } }
        }
        #expect(try table.check() == [])
      }
      #expect(table.count == 104)
    }
  }

  @Test(arguments: Table.Variant.allCases) func whatPartsTookComesBackAfterTheBarrier(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let large = [UInt8](repeating: 7, count: 3 << 20)
      for _ in 0..<20 {
        try table.barrier { (tx: inout Transaction) throws in
          for _ in 0..<3 { failingPart(&tx) { (part: inout Transaction) throws in try part.set("large", large) } }
          try tx.increment("n")
        }
        try table.administration.maintain()
      }
      #expect(try table.get("n") == 20)
      #expect(table.count == 1)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aPartThatFindsNoRoomIsUndoneAndTheRestCommits(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant, capacityBytes: 4 << 20) { table throws in
      try table.set("a", 1)
      try table.barrier { (tx: inout Transaction) throws in
        try tx.set("a", 2)
        let refusal = error {
          try tx.withSavepoint { (part: inout Transaction) throws in
            try part.set("a", 3)
            for index in 0..<10_000 { try part.set("v\(index)", [UInt8](repeating: 1, count: 10_000)) }
          }
        }
        #expect(refusal?.code == .full)
        #expect(try tx.get("a") == 2)
        try tx.remove("a")
      }
      #expect(table.count == 0)
      try table.set("a", 4)
    }
  }

  // MARK: - Readers meanwhile

  @Test(arguments: WayIn.allCases) func readersInsideDuringARollbackSeeTheirVersion(_ way: WayIn) throws {
    try Setting(variant: .rcu, way: way).with { table, reader throws in
      for index in 0..<50 { try table.set("k\(index)", "old") }
      let within = try worker(table, "\(way)")
      _ = try within.ask("read")
      func expectOld() throws {
        for index in 0..<50 { try within.ask("get k\(index)", expecting: "old") }
        try within.ask("count", expecting: "50")
        try within.ask("get new1", expecting: "nil")
      }
      let writer = try worker(table)
      try writer.ask("barrier", expecting: "in")
      try writer.ask("set k0 before", expecting: "ok")
      try writer.ask("savepoint", expecting: "in")
      try writer.ask("set k0 part", expecting: "ok")
      try writer.ask("fill new 3000", expecting: "ok")
      try writer.ask("remove k1", expecting: "ok")
      try expectOld()
      try writer.ask("abort", expecting: "rolled back")
      try expectOld()
      let before = try reader.read { (view: borrowing ReadView) throws in try view.get("k0", as: String.self) }
      #expect(before == "old")
      try writer.ask("get k0", expecting: "before")
      try writer.ask("commit", expecting: "ok")
      // What was undone goes back after the barrier, and observers are told.
      if way == .participant { try expectOld() }
      try within.ask("end", expecting: "ok")
      #expect(try reader.get("k0") == "before")
      #expect(try reader.get("k1") == "old")
      #expect(reader.count == 50)
    }
  }

  /// Freed memory is overwritten in this table: whoever still looks at it sees that.
  @Test func noReaderEverSeesWhatWasRolledBack() throws {
    try withTableName { (name: String) throws -> Void in
      var options = Table.Options(variant: .rcu, capacityBytes: 16 << 20)
      options.poisonsFreedBlocks = true
      let table = try Table.create(name, options, timeout: .seconds(30))
      let observer = try Table.open(name, access: .observer, timeout: .seconds(30))
      for index in 0..<20 { try table.set("k\(index)", 0) }
      let isDone = Atomic(false)
      // How many versions each of the two has seen while the writer was at work.
      let seen = [Counter(), Counter()]
      let readers = zip([table, observer], seen).map { reader, seen in
        TestThread {
          var last: UInt64?
          while !isDone.load(ordering: .acquiring) {
            guard let version = try lookOnce(reader) else { continue }
            if version != last { seen.increment() }
            last = version
          }
        }
      }
      defer { isDone.store(true, ordering: .releasing) }
      var round = 0
      try goOn(until: { round >= 300 && seen.allSatisfy { $0.value > 20 } }) {
        round += 1
        try rollBackAndCommit(table, round)
      }
      isDone.store(true, ordering: .releasing)
      for reader in readers { try reader.join() }
      #expect(seen.allSatisfy { $0.value > 20 }, "\(seen.map(\.value))")
      #expect(try table.check() == [])
    }
  }

  private func rollBackAndCommit(_ table: Table, _ round: Int) throws {
    try table.barrier { (tx: inout Transaction) throws in
      for index in 0..<10 { try tx.set("k\(index)", round) }
      failingPart(&tx) { (part: inout Transaction) throws in
        for index in 0..<20 where index % 3 != 0 { try part.set("k\(index)", -round) }
        for index in 0..<20 where index % 3 == 0 { try part.remove("k\(index)") }
        for index in 0..<20 { try part.set("other\(index)", -round) }
      }
      for index in 10..<20 { try tx.set("k\(index)", round) }
    }
  }

  /// - Returns: the version that a section saw; nil where an observer's was passed.
  private func lookOnce(_ table: Table) throws -> UInt64? {
    #expect(try #require(try table.get("k3", as: Int.self)) >= 0)
    #expect(try table.get("other3", as: Int.self) == nil)
    do {
      return try table.read { (view: borrowing ReadView) throws in
        let first = try view.get("k0", as: Int.self)
        for index in 1..<20 { #expect(try view.get("k\(index)", as: Int.self) == first) }
        #expect(try #require(first) >= 0)
        return view.version
      }
    } catch let error as TableError where error.code == .snapshotTooOld {
      // An observer's section lasts as long as nothing is reclaimed.
      return nil
    }
  }

  // MARK: - fork

  @Test(arguments: Table.Variant.allCases) func aChildForkedInAPartDoesNotRollItBack(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let parent = try worker(table)
      try parent.ask("barrier", expecting: "in")
      try parent.ask("set k before", expecting: "ok")
      try parent.ask("fork-abort-part k part", expecting: "child out")
      #expect(try parent.readLine() == "ok")
      try parent.ask("get k", expecting: "part")
      try parent.ask("commit", expecting: "ok")
      #expect(try table.get("k") == "part")
    }
  }

  // MARK: - Random programs

  /// SAVEPOINT_SEED and SAVEPOINT_BARRIERS override the defaults; a failure prints the seed.
  @Test(arguments: Table.Variant.allCases) func randomPartsAreThoseOfADictionary(_ variant: Table.Variant) throws {
    let seed = UInt64(environment("SAVEPOINT_SEED") ?? Int(UInt32.random(in: 1 ... .max)))
    try Setting(variant: variant, way: .observer).with(capacityBytes: 32 << 20) { table, reader throws in
      let program = Program(seed: seed)
      for round in 0..<(environment("SAVEPOINT_BARRIERS") ?? 100) {
        let committed = program.model
        do {
          try table.barrier { (tx: inout Transaction) throws in
            try program.run(&tx, steps: 60, depth: 0)
            if program.generator.below(6) == 0 { throw Refusal() }
          }
        } catch is Refusal {
          program.model = committed
        }
        #expect(reader.count == program.model.count, "seed \(seed), barrier \(round)")
        if round % 25 == 24 {
          for handle in [table, reader] {
            #expect(try contents(handle) == program.model, "seed \(seed), barrier \(round)")
          }
          #expect(try table.check() == [], "seed \(seed), barrier \(round)")
        }
      }
      // Whether a split falls into a part that fails is chance; splitsOfAPart… sees to those.
      #expect(program.deepest == 3, "seed \(seed): too tame")
    }
  }
}

/// Random steps on a barrier and on the dictionary that it must be like.
private final class Program {
  var generator: SplitMix
  var model: [String: [UInt8]] = [:]
  private(set) var deepest = 0
  private let seed: UInt64

  init(seed: UInt64) {
    generator = SplitMix(seed: seed)
    self.seed = seed
  }

  /// Some keys again and again, so that most of their changes meet others of the same barrier.
  private func key() -> String { generator.below(3) == 0 ? "hot \(generator.below(8))" : "k\(generator.below(9000))" }

  func run(_ tx: inout Transaction, steps: Int, depth: Int) throws {
    deepest = max(deepest, depth)
    for _ in 0..<steps {
      let key = key()
      switch generator.below(20) {
      case ..<11:
        let value = [UInt8](
          repeating: UInt8(generator.below(256)), count: generator.below(generator.below(10) == 0 ? 9000 : 200))
        try tx.set(key, value)
        model[key] = value
      case ..<16:
        #expect(try tx.remove(key) == (model.removeValue(forKey: key) != nil), "seed \(seed), \(key)")
      case ..<19:
        #expect(try tx.get(key, as: [UInt8].self) == model[key], "seed \(seed), \(key)")
      default:
        if depth < 3 { try part(of: &tx, depth: depth + 1) }
      }
    }
  }

  private func part(of tx: inout Transaction, depth: Int) throws {
    let saved = model
    do {
      try tx.withSavepoint { (part: inout Transaction) throws in
        try run(&part, steps: generator.below(80), depth: depth)
        if generator.below(2) == 0 { throw Refusal() }
      }
    } catch is Refusal {
      model = saved
    }
  }
}

private func contents(_ table: Table) throws -> [String: [UInt8]] {
  var found: [String: [UInt8]] = [:]
  try table.read { (view: borrowing ReadView) throws in
    try view.forEach { key, entry in
      found[String(decoding: key.withUnsafeBytes { Array($0) }, as: UTF8.self)] = entry.value(as: [UInt8].self)
    }
  }
  return found
}

private func fill(_ table: Table, _ range: Range<Int>) throws {
  for index in range { try table.set("k\(index)", index) }
}

/// Does something in a part that throws at its end.
private func failingPart(_ tx: inout Transaction, _ body: (inout Transaction) throws -> Void) {
  do {
    try tx.withSavepoint { (part: inout Transaction) throws in
      try body(&part)
      throw Refusal()
    }
    Issue.record("nothing was thrown")
  } catch {
    #expect(error is Refusal, "\(error)")
  }
}

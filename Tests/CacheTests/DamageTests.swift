import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Deaths between any two stores, and bytes that no cache wrote.
@Suite struct DamageTests {
  @Test(arguments: Table.Variant.allCases) func aProcessKilledWhileItWritesLeavesTheLedgerRight(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant) { table throws in
      var random = SplitMix(seed: 7)
      for round in 0..<12 {
        let victim = try cacheWorker(table, limit: 60)
        try victim.send("cache-random \(round) 100000 100")
        for _ in 0...random.below(8) { _ = try victim.readLine() }
        try victim.killAndWait()
        #expect(try problems(table) == [], "round \(round)")
        #expect(try table.read { view in try view.keys(prefix: "c/") }.count <= 60)
      }
      // Claims of the dead stop nobody.
      let cache = try StringCache("c", in: table, limit: .entries(60))
      for index in 0..<100 { _ = try cache.value(forKey: "k\(index)", timeout: .zero) { "mine" } }
      #expect(try cache.count == 60)
    }
  }

  /// What a head begins with; alone it is damaged.
  private static let magic: [UInt64] = [0x0165_6863_6163_6873]

  private func setHead(_ head: [UInt64], in table: Table) throws {
    try table.barrier { tx throws in try head.withUnsafeBytes { try tx.set("c", bytes: $0, type: .bytes) } }
  }

  private func withFilled(_ variant: Table.Variant, _ body: (Table, StringCache) throws -> Void) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(300))
      for index in 0..<300 { try cache.set("k\(index)", "v") }
      try body(table, cache)
      #expect(try problems(table) == [])
      #expect(try table.read { view in try view.keys(prefix: "c/") }.count <= 300)
      #expect(try cache.count <= 300)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aLedgerThatContradictsItselfIsMadeAnew(_ variant: Table.Variant) throws
  {
    var random = SplitMix(seed: 11)
    let magic = Self.magic
    // Each with the count that it gives; nil where it cannot be right by itself.
    let heads: [(head: [UInt64], count: Int?)] = [
      (magic, nil), (magic + [300, 600, 0, 0, 0, 0, 0], nil), (magic + [300, 600, .max, 0, 0, 0, 0], nil),
      (magic + [300, 600, 7, 7, 0, 0, 0], nil), (magic + [.max, 600, 1, 0, 0, 0, 0], nil),
      (magic + [1 << 60, 1 << 60, 5, 0, 0, 0, 0], 1 << 60),
    ]
    for (head, count) in heads {
      try withFilled(variant) { table, cache throws in
        try setHead(head, in: table)
        if let count { #expect(try cache.count == count) } else { #expect(code { try cache.count } == .damaged) }
        for index in 0..<310 { try cache.set("n\(index)", "w") }
        #expect(try cache["n309"] == "w")
      }
    }
    for round in 0..<6 {
      try withFilled(variant) { table, cache throws in
        switch round {
        case 0: try table.remove("c#r1")
        case 1: try table.set("c#r1", [UInt8](repeating: 1, count: 33))
        case 2: try table.remove("c")
        case 3: for page in 0..<7 { try table.set("c#r\(page)", [UInt8]()) }
        default:
          // Any words.
          let words = (0..<80).map { _ in UInt64.random(in: 0 ... .max, using: &random) }
          try table.barrier { tx throws in try words.withUnsafeBytes { try tx.set("c#r2", bytes: $0, type: .bytes) } }
        }
        for index in 0..<330 {
          try cache.set("n\(index)", "w")
          try cache.remove("k\(index)")
        }
        // What no sum betrays is found by who looks closer; emptied, all is right.
        if round > 3 { try cache.removeAll() }
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aWriteWhoseConditionFailsHealsTheLedger(_ variant: Table.Variant) throws
  {
    try withFilled(variant) { table, cache throws in
      try setHead(Self.magic, in: table)
      #expect(error { _ = try cache.count }?.code == .damaged)
      #expect(try !cache.set("n", "w", if: .present))
      #expect(try cache.count == 300)
    }
  }

  /// The process whose write makes the ledger anew has a lower limit than the one that stored the elements.
  @Test(arguments: Table.Variant.allCases) func aWriteThatHealsTheLedgerEvictsNotWhatItIsAbout(
    _ variant: Table.Variant
  ) throws {
    try withFilled(variant) { table, _ throws in
      let low = try StringCache("c", in: table, limit: .entries(10))
      try setHead(Self.magic, in: table)
      #expect(try low.set("k0", "w", if: .present))
      #expect(try low.count == 10)
      for index in 1..<300 { try table.set("c/k\(index)", "v") }
      try setHead(Self.magic, in: table)
      #expect(try low.remove("k0"))
      #expect(try low.count <= 10)
      // One element alone is above this limit.
      try low.removeAll()
      try low.set("large", String(repeating: "v", count: 300))
      try setHead(Self.magic, in: table)
      #expect(try StringCache("c", in: table, limit: .bytes(100)).remove("large"))
    }
  }

  /// A claim stays when its process dies, until somebody asks for the same key again.
  @Test(arguments: Table.Variant.allCases) func aLedgerThatIsMadeAnewLeavesNoClaimsOfTheDead(
    _ variant: Table.Variant
  ) throws {
    try withFilled(variant) { table, cache throws in
      for key in ["dead1", "dead2"] {
        let computing = try cacheWorker(table, limit: 300)
        try computing.ask("cache-compute \(key) theirs", expecting: "computing")
        try computing.killAndWait()
      }
      let living = try cacheWorker(table, limit: 300)
      try living.ask("cache-compute alive theirs", expecting: "computing")
      func claims() throws -> [[UInt8]] { try table.read { view in try view.keys(prefix: "c#k") } }
      #expect(try claims().count == 3)
      try table.remove("c#r1")
      try cache.set("k0", "w", cost: 7)
      for index in 0..<300 { try cache.set("k\(index)", "w", cost: 7) }
      #expect(try claims() == [Array("c#kalive".utf8)])
      try living.ask("finish", expecting: "theirs")
      #expect(try claims() == [])
      try living.finish()
    }
  }

  /// Where a table was too full for the ledger's pages, an eviction leaves lines without their elements.
  @Test func aLineWithoutItsElementIsNoDamageToACollection() throws {
    let table = try Table.temporary()
    let cache = try StringCache("c", in: table, limit: .entries(300))
    for index in 0..<300 { try cache.set("k\(index)", "v") }
    #expect(try table.checkCollections() == [])
    try table.remove("c/k7")
    #expect(try table.checkCollections() == [])
    #expect(try problems(table) == ["a line without its element"])
    try table.set("c/other", "v")
    #expect(try table.checkCollections() == ["cache 'c': an element without its line"])
  }

  /// As a process leaves them that stores harmful bytes: a sentence for each line would take more memory than the table.
  @Test func linesThatAreAllWrongAreCounted() throws {
    let table = try Table.temporary()
    let cache = try StringCache("c", in: table, limit: .entries(3000))
    for index in 0..<3000 { try cache.set("k\(index)", "v") }
    let pages = try table.read { view in try view.keys(prefix: "c#r").count }
    #expect(pages > 20)
    // The line is right on one page at most.
    let line: [UInt64] = [7, 0, 1, 0]
    let lines = Array(repeating: line, count: 500).joined().map { $0 }
    for page in 0..<pages {
      try table.barrier { tx throws in
        try lines.withUnsafeBytes { try tx.set("c#r\(page)", bytes: $0, type: .bytes) }
      }
    }
    let problems = try problems(table)
    #expect(problems.count < 20)
    let misplaced = problems.filter { $0.hasPrefix("a line of another page is on page ") }
    #expect(misplaced.count == 8 && misplaced.allSatisfy { $0.hasSuffix(" (500 times)") })
    // The line's own page is among the first eight, or is not.
    let rest = [pages - 8, pages - 9].map { "and \($0) more of this kind" }
    #expect(problems.contains { rest.contains($0) }, "\(problems)")
    #expect(problems.contains("two lines of one key (\(500 * pages - 1) times)"))
    #expect(problems.contains("a line without its element (\(500 * pages) times)"))
    #expect(try table.checkCollections().count == problems.count - 1)
  }

  /// A ledger that is made anew counts bytes where the elements were stored at a cost of their own: it evicts most of them, for which
  /// a full table has no room in one barrier.
  private func withDamagedLedgerInFullTable(_ body: (Table, StringCache) throws -> Void) throws {
    try withTable(.rcu, capacityBytes: 3 << 20) { table throws in
      let cache = try StringCache("c", in: table, limit: .bytes(12_000))
      for index in 0..<10_000 { try cache.set("k\(index)", "v", cost: 1) }
      var filled = 0
      while error({ try table.set("filled/\(filled)", [UInt8](repeating: 1, count: 10_000)) }) == nil { filled += 1 }
      // Room for the ledger's pages, and not for the tombstones of most elements, too.
      for index in 0..<45 { try table.remove("filled/\(index)") }
      try setHead(Self.magic, in: table)
      #expect(error { _ = try cache.count }?.code == .damaged)
      try body(table, cache)
    }
  }

  @Test func aLedgerIsMadeAnewInAFullTable() throws {
    try withDamagedLedgerInFullTable { table, cache throws in
      try cache.set("n", "w", cost: 1)
      #expect(try cache["n"] == "w")
      for _ in 0..<2 { try cache.set("n", "ww", cost: 2) }
      #expect(try cache.count < 3000)
      #expect(try problems(table) == [])
    }
  }

  /// There is no room for the ledger that is made anew before elements have gone, of which the removed one would be the first.
  @Test func aRemovalThatHealsTheLedgerOfAFullTableEvictsNotItsOwnElement() throws {
    try withDamagedLedgerInFullTable { table, cache throws in
      try table.barrier { tx throws in for page in try tx.keys(prefix: "c#r") { try tx.remove(page) } }
      try fillInEverySize(table)
      let first = try table.read { view throws in try view.keys(prefix: "c/").first! }
      #expect(try cache.remove(String(decoding: first.dropFirst(2), as: UTF8.self)))
      #expect(try cache.count < 10_000 - 1)
      #expect(try problems(table) == [])
    }
  }

  @Test func whatIsNoCacheIsLeftAlone() throws {
    try withTable(.rcu) { table throws in
      for value in ["hello", "", "somewhat longer than the words of a head, by the look of it, is this one here"] {
        try table.set("c", value)
        let cache = try StringCache("c", in: table, limit: .entries(10))
        #expect(error { try cache.set("k", "v") }?.code == .typeMismatch)
        #expect(error { try cache.set("k", "v", if: .present) }?.code == .typeMismatch)
        #expect(error { _ = try cache.count }?.code == .typeMismatch)
        try table.set("c", Array(value.utf8))
        #expect(error { try cache.set("k", "v") }?.code == .typeMismatch)
        #expect(try table.get("c", as: [UInt8].self) == Array(value.utf8))
      }
    }
  }

  @Test func aCachesHeadIsNobodyElsesBytes() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(10))
      try cache.set("k", "v")
      let value = try SharedValue<[UInt8]>("c", in: table, default: [])
      #expect(error { try value.set([1]) }?.code == .typeMismatch)
      #expect(error { _ = try value.remove() }?.code == .typeMismatch)
      let once = try SharedOnce<[UInt8]>("c", in: table)
      #expect(error { _ = try once.current }?.code == .typeMismatch)
      #expect(error { _ = try once.value { [1] } }?.code == .typeMismatch)
      try cache.set("l", "v")
      #expect(try cache.count == 2)
      #expect(try problems(table) == [])
    }
  }

  /// As a store or a dump may have kept it: releases before stored the head as plain bytes.
  @Test func aHeadOfPlainBytesIsTakenOver() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(10))
      try cache.set("k", "v")
      let head = try #require(try table.bytes(forKey: "c"))
      try table.set("c", head)
      #expect(try cache.count == 1)
      #expect(try table.read { view in try view.collection(of: "c/k")?.kind } == "cache")
      try cache.set("l", "v")
      #expect(try cache.count == 2)
      #expect(try table.entry(forKey: "c")?.type == .structure)
      #expect(try problems(table) == [])
    }
  }

  @Test(arguments: Table.Variant.allCases) func aClaimOfAnyBytesStopsNobody(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(10))
      var random = SplitMix(seed: 13)
      for round in 0..<50 {
        var words = (0..<8).map { _ in UInt64.random(in: 0 ... .max, using: &random) }
        if round % 2 == 0 { words[0] = 0x016d_6961_6c63_6873 }
        if round % 4 == 0 { words[1] = UInt64(random.below(4)) }
        try table.barrier { tx throws in
          try words.withUnsafeBytes { try tx.set("c#kk\(round)", bytes: $0, type: .bytes) }
        }
        #expect(try cache.value(forKey: "k\(round)", timeout: .zero) { "mine" } == "mine")
      }
    }
  }
}

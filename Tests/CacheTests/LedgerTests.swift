import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// The ledger's records: what a write stores of them, and what they make of any bytes.
@Suite struct LedgerTests {
  private func line(_ hash: UInt64, used: UInt64 = 1, expiry: UInt64 = 0) -> CachePage.Line {
    CachePage.Line(hash: hash, used: used, cost: 7, expiry: expiry)
  }

  private func lines(_ page: CachePage) -> [CachePage.Line] { (0..<page.count).map { page[$0] } }

  /// A page against an array of lines; stored and loaded now and then, as between two barriers.
  @Test func aPageDoesWhatAnArrayOfLinesDoes() throws {
    var random = SplitMix(seed: 5)
    var page = CachePage()
    var model: [CachePage.Line] = []
    for step in 0..<4000 {
      switch random.below(5) {
      case 0 where !model.isEmpty:
        let index = random.below(model.count)
        model.swapAt(index, model.count - 1)
        #expect(page.remove(index) == model.removeLast())
      case 1 where !model.isEmpty:
        let index = random.below(model.count)
        model[index] = line(UInt64(step), used: UInt64(random.below(50)))
        page[index] = model[index]
      case 2:
        page = try #require(page.withBytes { bytes in CachePage(bytes) })
        #expect(!page.isDirty)
      default:
        guard model.count < 200 else { continue }
        model.append(line(UInt64(step), used: UInt64(random.below(50))))
        page.append(model.last!)
        #expect(page.isDirty)
      }
      #expect(lines(page) == model, "step \(step)")
      #expect(page.line(ofHash: UInt64(step)) == model.firstIndex { $0.hash == UInt64(step) })
      #expect(page.oldest(sparing: nil, now: 0)?.used == model.map(\.used).min())
    }
  }

  @Test func bytesOfAnotherLengthAreNoPage() {
    for count in 0..<200 {
      let page = [UInt8](repeating: 1, count: count).withUnsafeBytes { CachePage($0) }
      #expect((page == nil) == (count % 32 != 0))
      #expect(page == nil || page!.count == count / 32)
    }
  }

  @Test func aPageKnowsWhetherALineMayExpire() throws {
    let page = CachePage()
    page.append(line(1))
    page.append(line(2))
    #expect(!page.hasExpiries)
    page[0] = line(1, expiry: 9)
    #expect(page.hasExpiries)
    let loaded = try #require(page.withBytes { bytes in CachePage(bytes) })
    #expect(loaded.hasExpiries)
    #expect(try #require(loaded.oldest(sparing: nil, now: 9)) == (0, 0))
    loaded[0] = line(1)
    #expect(try !#require(loaded.withBytes { bytes in CachePage(bytes) }).hasExpiries)
  }

  /// Page and head are stored only where they say something else than before.
  @Test func anElementThatIsThereCostsOneKeyAndANewOneThree() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(10))
      func stored(_ change: () throws -> Void) throws -> Set<String> {
        let before = table.version
        try change()
        var keys: Set<String> = []
        try table.read { view in
          try view.forEach { key, entry in
            if entry.version > before {
              keys.insert(key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
            }
          }
        }
        return keys
      }
      #expect(try stored { try cache.set("k", "v") } == ["c", "c#r0", "c/k"])
      #expect(try stored { try cache.set("k", "w") } == ["c/k"])
      #expect(try stored { try cache.set("k", "longer") } == ["c", "c#r0", "c/k"])
      #expect(try stored { try cache.set("l", "v") } == ["c", "c#r0", "c/l"])
      #expect(try cache.totalCost == "klongerlv".utf8.count)
      #expect(try problems(table) == [])
    }
  }

  /// What expires, or no longer does, is on the page: whoever evicts looks for it there.
  @Test func anElementThatExpiresCostsItsPageToo() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(10))
      func isPageStored(_ expires: Expiration) throws -> Bool {
        let before = try table.entry(forKey: "c#r0")?.version
        try cache.set("k", "v", expires: expires)
        return try table.entry(forKey: "c#r0")?.version != before
      }
      #expect(try isPageStored(.never))
      #expect(try !isPageStored(.never))
      #expect(try isPageStored(.after(.seconds(100))))
      #expect(try isPageStored(.after(.seconds(100))))
      #expect(try isPageStored(.never))
      #expect(try !isPageStored(.never))
      #expect(try problems(table) == [])
    }
  }

  /// The last write of an element may have stored that element alone; whoever evicts finds it there, whatever process wrote.
  @Test func anElementThatWasWrittenAgainIsNotTheOldest() throws {
    try withTable(.rcu) { table throws in
      let (one, other) = (
        try StringCache("c", in: table, limit: .entries(4)), try StringCache("c", in: table, limit: .entries(4))
      )
      for key in ["k", "l", "m", "n"] { try one.set(key, "v") }
      try one.set("k", "w")
      try one.set("l", "w")
      try other.set("o", "v")
      try other.set("p", "v")
      #expect(try ["k", "l", "m", "n", "o", "p"].filter { try one.contains($0) } == ["k", "l", "o", "p"])
      try one.set("o", "w")
      try other.set("q", "v")
      #expect(try ["k", "l", "o", "p", "q"].filter { try one.contains($0) } == ["l", "o", "p", "q"])
      #expect(try problems(table) == [])
    }
  }

  /// A limit that was made smaller holds from the next write on, also of an element that is there.
  @Test func anElementThatIsThereMakesRoomForASmallerLimit() throws {
    try withTable(.rcu) { table throws in
      let large = try StringCache("c", in: table, limit: .entries(8))
      for number in 0..<8 { try large.set("\(number)", "v") }
      let small = try StringCache("c", in: table, limit: .entries(3))
      try small.set("7", "w")
      #expect(try small.count == 3)
      #expect(try small["7"] == "w")
      #expect(try problems(table) == [])
    }
  }

  /// What the process has read goes into a page with a new element, and not with another value of one.
  @Test func aNewElementTellsItsPageWhatWasRead() throws {
    try withTable(.rcu) { table throws in
      let cache = try StringCache("c", in: table, limit: .entries(10))
      try cache.set("k", "v")
      try cache.set("l", "v")
      #expect(try cache["k"] == "v")
      func toldHits() throws -> Int {
        let stored = try #require(try table.entry(forKey: "c#r0")).bytes
        let page = try #require(stored.withUnsafeBytes { CachePage($0) })
        return lines(page).count { $0.used % 2 == 1 }
      }
      try cache.set("l", "w")
      #expect(try toldHits() == 0)
      try cache.set("m", "v")
      #expect(try toldHits() == 1)
    }
  }
}

import FoundationEssentials
import SharedTableFoundation
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

@Suite struct DictionaryTests {
  @Test(arguments: Table.Variant.allCases) func randomProgramsDoWhatADictionaryDoes(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let watching = try observer(of: table)
      for seed in 1...4 as ClosedRange<UInt64> {
        var program = try Program(table, watching, seed: seed)
        for step in 0..<400 { try program.step(step) }
      }
    }
  }

  /// One random program: what it does to a shared dictionary it does to one of Swift's.
  private struct Program {
    let seed: UInt64
    var random: SplitMix
    let shared: SharedDictionary<Int, String>
    let watched: SharedDictionary<Int, String>
    let table: Table
    var model: [Int: String] = [:]

    init(_ table: Table, _ watching: Table, seed: UInt64) throws {
      self.seed = seed
      self.table = table
      random = SplitMix(seed: seed)
      shared = try SharedDictionary("d\(seed)", in: table)
      watched = try SharedDictionary("d\(seed)", in: watching)
    }

    mutating func step(_ step: Int) throws {
      let key = random.below(30) - 15
      let text = String(repeating: "x", count: random.below(60))
      switch random.below(12) {
      case 0...2:
        try shared.set(key, text)
        model[key] = text
      case 3: #expect(try shared.updateValue(text, forKey: key) == model.updateValue(text, forKey: key))
      case 4...5: #expect(try shared.removeValue(forKey: key) == model.removeValue(forKey: key))
      case 6:
        try shared.mutate(key, default: "new") { $0 += "y" }
        model[key, default: "new"] += "y"
      case 7:
        let isGone = random.below(2) == 0
        try shared.mutate(key) { $0 = isGone ? nil : ($0 ?? "") + "z" }
        model[key] = isGone ? nil : (model[key] ?? "") + "z"
      case 8:
        let others = (0..<random.below(20)).map { _ in (random.below(30) - 15, "m\(random.below(100))") }
        try shared.merge(others) { $0 + $1 }
        model.merge(others) { $0 + $1 }
      case 9:
        let keys = (0..<5).map { _ in random.below(30) - 15 }
        let removed = Set(keys).filter { model.removeValue(forKey: $0) != nil }.count
        #expect(try shared.remove(keys) == removed)
      case 10:
        #expect(throws: Stop.self) {
          try table.barrier { tx in
            try shared.set(key, "undone", in: &tx)
            try shared.removeValue(forKey: key + 1, in: &tx)
            throw Stop()
          }
        }
      default:
        guard random.below(10) == 0 else { break }
        try shared.removeAll()
        model = [:]
      }
      #expect(try watched[key] == model[key], "seed \(seed), step \(step)")
      #expect(try watched.count == model.count, "seed \(seed), step \(step)")
      #expect(try shared.contains(key) == (model[key] != nil))
      guard step % 20 == 0 else { return }
      #expect(try watched.allElements() == model, "seed \(seed), step \(step)")
      #expect(try Set(shared.keys()) == Set(model.keys))
      #expect(try shared.values().sorted() == model.values.sorted())
      let inBarrier = try table.barrier { tx in
        var copy: [Int: String] = [:]
        try shared.forEach(in: tx) { key, value in
          copy[key] = value
        }
        return copy
      }
      #expect(inBarrier == model)
    }
  }

  @Test func elementsLieUnderTheNameAndCanBeListed() throws {
    let table = try Table.temporary()
    let ages = try SharedDictionary<String, Int>("ages", in: table)
    try ages.merge(["ann": 41, "bob": 7])
    try SharedDictionary<String, Int>("agesOfOthers", in: table).set("eve", 1)
    #expect(
      try table.read { view in try view.keys(prefix: "ages/") } == [
        Array("ages/ann".utf8), Array("ages/bob".utf8), Array("ages/".utf8) + [255, 48],
      ])
    #expect(try table.get("ages/ann", as: Int.self) == 41)
    let header = try #require(try table.get("ages", as: CollectionHeader.self))
    #expect(header.signature == "dictionary of string to integer")
    #expect((0..<3).map { header.numbers[$0] } == [2, 14, 1])
  }

  /// Such as the table's own API has stored or left there. Whether the collection has other elements makes no difference.
  @Test func whatIsNotListedIsRemovedAllTheSame() throws {
    let table = try Table.temporary()
    let jobs = try SharedDictionary<String, Int>("jobs", in: table)
    for hasOthers in [false, true] {
      if hasOthers { try jobs.set("other", 0) }
      try table.set("jobs/a", 1)
      #expect(try jobs.removeValue(forKey: "a") == 1)
      #expect(try jobs.removeValue(forKey: "a") == nil && jobs["a"] == nil)
      try table.set("jobs/a", 1)
      #expect(try jobs.remove(["a", "b"]) == 1)
      #expect(try table.check() == [] && table.checkCollections() == [])
    }
    let names = try SharedSet<String>("names", in: table)
    try names.insert("a")
    try table.remove("names")
    #expect(try names.contains("a") && names.remove("a"))
    #expect(try !names.contains("a"))
  }

  /// It is gone through before the barrier, in which a read of the table is an error.
  @Test func whatIsMergedMayReadTheTable() throws {
    let table = try Table.temporary()
    let old = try SharedDictionary<String, Int>("old", in: table)
    try old.merge(["ann": 41, "bob": 7])
    let copy = try SharedDictionary<String, Int>("copy", in: table)
    try copy.merge(["ann", "bob"].lazy.map { name in (name, (try? old[name]) ?? 0) })
    #expect(try copy.allElements() == ["ann": 41, "bob": 7])
  }

  @Test func forEachStopsEarlyAndPassesErrorsOn() throws {
    let table = try Table.temporary()
    let d = try SharedDictionary<Int, Int>("d", in: table)
    try d.merge((0..<100).map { ($0, $0) })
    for length in [-1, 0, 3, 200] {
      let some = try d.prefix(length)
      #expect(some.count == max(0, min(length, 100)) && some.allSatisfy { $0.key == $0.value })
    }
    #expect(throws: Stop.self) { try d.forEach { _, _ in throw Stop() } }
    try table.barrier { tx in
      var seen = 0
      let third = try d.first(in: tx) { _, _ in
        seen += 1
        return seen == 3
      }
      #expect(third != nil && seen == 3)
      #expect(throws: Stop.self) { try d.forEach(in: tx) { _, _ in throw Stop() } }
    }
  }

  @Test func aWalkSeesOneSnapshotWhileOthersWrite() throws {
    try withTable(.rcu) { table throws in
      let d = try SharedDictionary<Int, Int>("d", in: table)
      try d.merge((0..<200).map { ($0, 0) })
      let other = try worker(table)
      var sum = 0
      var isFirst = true
      try table.read { view in
        try d.forEach(in: view) { _, value in
          if isFirst { try other.ask("dictionary-set d 200 1", expecting: "ok") }
          isFirst = false
          sum += value
        }
        #expect(try d.count(in: view) == 200)
      }
      #expect(sum == 0)
      #expect(try d.values().reduce(0, +) == 1)
    }
  }

  @Test func whatOthersLeftUnderTheNameIsAnError() throws {
    let table = try Table.temporary()
    let d = try SharedDictionary<Int, Int>("d", in: table)
    try d.merge([1: 1, 2: 2])
    try table.set("d/2", "text")
    #expect(code { try d.forEach { _, _ in } } == .typeMismatch)
    try table.set("d/2", 2)
    try table.set("d/02", 2)
    #expect(try d.allElements() == [1: 1, 2: 2], "what is not listed is not visited")
    let good = try #require(try table.bytes(forKey: "d"))
    for bytes in [[], Array(good.dropLast()), good + [32], Array(good[..<40]), [255] + good.dropFirst()] {
      try table.set("d", ForgedHeader(bytes: bytes))
      let outcome = code { _ = try d.count }
      #expect(outcome == .damaged || outcome == .typeMismatch, "\(bytes)")
      #expect(code { try d.set(9, 9) } == outcome)
    }
    // As an earlier release stored it.
    try table.set("d", "dictionary of integer to integer: 2 10 1 77")
    #expect(code { _ = try d.count } == .typeMismatch)
  }

  @Test func keysAndValuesOfAllKindsGoTogether() throws {
    let table = try Table.temporary()
    let rooms = try SharedDictionary<Room, Color>("rooms", in: table)
    try rooms.set(.hall, .green)
    try rooms.set(.cellar, .red)
    #expect(try rooms.allElements() == [.hall: .green, .cellar: .red])
    let people = try SharedDictionary<UUID, Coded<[String]>>("people", in: table)
    let id = UUID()
    try people.set(id, Coded(["ann", "bob"]))
    #expect(try people[id]?.value == ["ann", "bob"])
    #expect(try people.keys() == [id])
    let bytes = try SharedDictionary<[UInt8], Date>("bytes", in: table)
    try bytes.set([0, 47, 255], .distantPast)
    #expect(try bytes.allElements() == [[0, 47, 255]: .distantPast])
    #expect(code { try bytes.set([UInt8](repeating: 1, count: 70_000), .distantPast) } == .tooLarge)
    #expect(try bytes.count == 1)
  }

  @Test func insideASectionTheFormsForThereAreNeeded() throws {
    let table = try Table.temporary()
    let d = try SharedDictionary<Int, Int>("d", in: table)
    try d.set(1, 1)
    try table.read { _ in
      let value = try d[1]
      #expect(value == 1)
      #expect(code { try d.set(1, 2) } == .wouldDeadlock)
    }
    try table.barrier { tx in
      #expect(code { _ = try d[1] } == .wouldDeadlock)
      let value = try d.get(1, in: tx)
      #expect(value == 1)
    }
  }
}

/// What a program with a defect could store as a header.
struct ForgedHeader: TableValue {
  let bytes: [UInt8]
  static var tableType: ValueType { CollectionHeader.tableType }
  static var tableFingerprint: UInt64 { CollectionHeader.tableFingerprint }
  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe bytes.withTableBytes(body)
  }
  init(bytes: [UInt8]) { self.bytes = bytes }
  init?(tableBytes: UnsafeRawBufferPointer) { unsafe bytes = [UInt8](tableBytes) }
}

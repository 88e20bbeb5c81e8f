import Glibc
import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

@Suite struct ArrayTests {
  struct Point: SharedStruct, Equatable {
    static let schemaName = "test.point"
    var x: Double
    var tag: UInt8
  }

  /// One random program: what it does to a shared array it does to one of Swift's.
  private struct Program<Element: TableValue & Equatable> {
    let seed: UInt64
    var random: SplitMix
    let shared: SharedArray<Element>
    let watched: SharedArray<Element>
    let make: (inout SplitMix) -> Element
    var model: [Element] = []

    init(
      _ table: Table, _ watching: Table, seed: UInt64, _ limits: ArrayLimits,
      _ make: @escaping (inout SplitMix) -> Element
    ) throws {
      self.seed = seed
      random = SplitMix(seed: seed)
      shared = try SharedArray("a\(seed)", in: table, limits: limits)
      watched = try SharedArray("a\(seed)", in: watching)
      self.make = make
    }

    /// - Parameter growth: of a hundred steps that insert or remove, how many insert.
    mutating func step(_ step: Int, growth: Int, full: Bool) throws {
      switch random.below(10) {
      case 0:
        let run = (0..<random.below(12)).map { _ in make(&random) }
        if random.below(100) < growth {
          try shared.append(contentsOf: run)
          model += run
        }
      case 1 where !model.isEmpty:
        let index = random.below(model.count)
        let element = make(&random)
        try shared.set(element, at: index)
        model[index] = element
      case 2 where !model.isEmpty:
        let last = random.below(2) == 0
        let popped = last ? model.removeLast() : model.removeFirst()
        #expect(try (last ? shared.popLast() : shared.popFirst()) == popped)
      case 3, 4:
        let element = make(&random)
        if random.below(100) < growth {
          try shared.append(element)
          model.append(element)
        }
      default:
        let element = make(&random)
        if random.below(100) < growth {
          let index = random.below(model.count + 1)
          try shared.insert(element, at: index)
          model.insert(element, at: index)
        } else if !model.isEmpty {
          let index = random.below(model.count)
          #expect(try shared.remove(at: index) == model.remove(at: index), "seed \(seed), step \(step)")
        }
      }
      #expect(try watched.count == model.count, "seed \(seed), step \(step)")
      if !model.isEmpty {
        let index = random.below(model.count)
        #expect(try watched[index] == model[index], "seed \(seed), step \(step)")
      }
      if full {
        #expect(try watched.allElements() == model, "seed \(seed), step \(step)")
        #expect(try shared.problems() == [], "seed \(seed), step \(step)")
        let low = random.below(model.count + 1)
        let high = low + random.below(model.count - low + 1)
        #expect(try watched.elements(at: low..<high) == Array(model[low..<high]))
      }
    }

    mutating func run(_ steps: Int) throws {
      for step in 0..<steps { try self.step(step, growth: 70, full: step % 25 == 0) }
      for step in 0..<steps { try self.step(steps + step, growth: 50, full: step % 25 == 0) }
      for step in 0..<2 * steps { try self.step(2 * steps + step, growth: 15, full: step % 25 == 0) }
      while !model.isEmpty {
        let index = random.below(model.count)
        #expect(try shared.remove(at: index) == model.remove(at: index))
      }
      #expect(try shared.popLast() == nil && shared.popFirst() == nil)
      #expect(try shared.problems() == [])
      try step(0, growth: 100, full: true)
    }
  }

  @Test(arguments: Table.Variant.allCases) func randomProgramsDoWhatAnArrayDoes(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let watching = try observer(of: table)
      for seed in 1...3 as ClosedRange<UInt64> {
        var program = try Program(table, watching, seed: seed, smallNodes) {
          String(repeating: "é", count: $0.below(20))
        }
        try program.run(200)
      }
      var points = try Program(table, watching, seed: 4, smallNodes) { Point(x: Double($0.below(9)), tag: 3) }
      try points.run(150)
      var large = try Program(table, watching, seed: 5, .init()) { [UInt8](repeating: 7, count: 1 << $0.below(15)) }
      try large.run(60)
      var integers = try Program(table, watching, seed: 6, .init()) { $0.below(1000) }
      try integers.run(300)
    }
  }

  @Test func aHundredThousandElementsInAnyOrder() throws {
    try withTable(.rcu, capacityBytes: 64 << 20) { table throws in
      var random = SplitMix(seed: 9)
      let shared = try SharedArray<Int>("a", in: table)
      var model = (0..<100_000).map { $0 * 7 }
      try shared.append(contentsOf: model)
      for _ in 0..<10 {
        // Few barriers, many edits: each of them works on the tree as the one before left it.
        try table.barrier { tx in
          for _ in 0..<300 {
            let value = Int(truncatingIfNeeded: random.next())
            let index = random.below(model.count + 1)
            try shared.insert(value, at: index, in: &tx)
            model.insert(value, at: index)
            let gone = random.below(model.count)
            let removed = try shared.remove(at: gone, in: &tx)
            if removed != model.remove(at: gone) { Issue.record("another element at \(gone)") }
          }
          let run = (0..<400).map { Int(truncatingIfNeeded: random.next()) &+ $0 }
          try shared.append(contentsOf: run, in: &tx)
          model += run
        }
      }
      #expect(try shared.allElements() == model)
      #expect(try shared.problems() == [])
      for _ in 0..<200 {
        let index = random.below(model.count)
        #expect(try shared[index] == model[index])
      }
    }
  }

  /// One element more changes one node as long as the tail has room for it, and so does another value of an element.
  @Test func anAppendStoresTheTailAndNothingElse() throws {
    try withTable(.rcu) { table throws in
      let array = try SharedArray<Int>("a", in: table)
      let limits = array.tree.limits
      for index in 0..<3 * limits.leafElements + 2 {
        let before = (version: table.version, keys: table.count)
        try array.append(index)
        let changed = try changedKeys(table, before)
        // A new tail and the header; from the second old one on, the root too.
        let expected = index % limits.leafElements > 0 ? 1 : index <= limits.leafElements ? 2 : 3
        #expect(changed == expected, "element \(index)")
      }
      #expect(try array.allElements() == Array(0..<3 * limits.leafElements + 2))
      #expect(try array.problems() == [])
      for index in [0, limits.leafElements, 3 * limits.leafElements, 3 * limits.leafElements + 1] {
        let before = (version: table.version, keys: table.count)
        try array.set(-index, at: index)
        #expect(try changedKeys(table, before) == 1)
        #expect(try array[index] == -index)
      }
      let state = try table.read { view in try array.tree.state(in: view) }
      #expect(state.rooted == 3 * limits.leafElements && state.tailCount == 2 && state.level == 1)
    }
  }

  /// Shorter elements make leaves small, as removals do.
  @Test func leavesWhoseElementsGetShorterAreJoined() throws {
    let table = try Table.temporary()
    let limits = ArrayLimits(leafElements: 16, leafBytes: 64, children: 4)
    let array = try SharedArray<String>("a", in: table, limits: limits)
    for _ in 0..<14 { try array.append(String(repeating: "x", count: 32)) }
    let nodes = table.count
    for index in 0..<14 { try array.set("\(index)", at: index) }
    #expect(table.count < nodes - 3)
    #expect(try array.allElements() == (0..<14).map { "\($0)" })
    #expect(try array.problems() == [])
  }

  /// What is made of a leaf's bytes is, byte for byte, what is made of its elements.
  @Test func aLeafChangedInItsBytesIsTheLeafMadeAnew() throws {
    var random = SplitMix(seed: 17)
    for _ in 0..<2000 {
      let alignment = 1 << random.below(5)
      func element() -> [UInt8] { (0..<random.below(40)).map { _ in UInt8(1 + random.below(255)) } }
      func run(_ bytes: [UInt8]) -> ArrayLeaf {
        bytes.withUnsafeBytes { ArrayLeaf(bytes: $0, alignment: alignment) }
      }
      var leaf = ArrayLeaf(alignment: alignment)
      for _ in 0..<random.below(20) { leaf.append(run(element())) }
      let place = random.below(leaf.count + 1)
      let range = place..<min(leaf.count, place + random.below(2))
      let new = element()
      var expected = leaf
      expected.replace(range, with: run(new))
      let changed = changed(leaf, range, new, alignment)
      #expect(changed == expected.bytes, "alignment \(alignment), \(leaf.ends), \(range), \(new.count) bytes")
    }
  }

  private func changed(_ leaf: ArrayLeaf, _ range: Range<Int>, _ element: [UInt8], _ alignment: Int) -> [UInt8]? {
    let bytes = leaf.bytes
    guard let node = ArrayNodeSpan(bytes.span.bytes),
      let change = ArrayLeafChange(node, range, length: element.count, alignment: alignment)
    else { return nil }
    var result = [UInt8](repeating: 0xaa, count: change.byteCount)
    result.withUnsafeMutableBytes { place in
      element.withUnsafeBytes { change.write($0, to: place.baseAddress!) }
    }
    return result
  }

  /// How many keys the newest version changed.
  private func changedKeys(_ table: Table, _ before: (version: UInt64, keys: Int)) throws -> Int {
    var changed = 0
    var keys = 0
    try table.read { view in
      try view.forEach { _, entry in
        keys += 1
        if entry.version > before.version { changed += 1 }
      }
    }
    return changed + max(0, before.keys - keys)
  }

  @Test func amongAMillionARemovalTouchesAFewNodes() throws {
    try withTable(.rcu, capacityBytes: 96 << 20) { table throws in
      let array = try SharedArray<Int>("a", in: table)
      for part in 0..<10 { try array.append(contentsOf: part * 100_000..<(part + 1) * 100_000) }
      #expect(try array.count == 1_000_000)
      // Three levels: a leaf, two nodes, and the header.
      let state = try table.read { view in try array.tree.state(in: view) }
      #expect(state.level == 2)

      var before = (version: table.version, keys: table.count)
      #expect(try array.remove(at: 500_000) == 500_000)
      #expect(try changedKeys(table, before) == 4)
      before = (version: table.version, keys: table.count)
      try array.insert(-1, at: 250_000)
      #expect(try changedKeys(table, before) == 6, "a leaf and the node above were full, and are two each")
      #expect(try array[250_000] == -1 && array[250_001] == 250_000 && array[500_001] == 500_001)

      // Removing on until leaves are joined touches no more than two nodes a level.
      for index in 0..<400 {
        before = (version: table.version, keys: table.count)
        try array.remove(at: 700_000)
        if index % 20 == 0 { #expect(try changedKeys(table, before) <= 6) }
      }
      var seen = 0
      var isSorted = true
      var last = Int.min
      try array.forEach { index, value in
        if index > 250_000 {
          isSorted = isSorted && value > last
          last = value
        }
        seen += 1
      }
      #expect(isSorted)
      #expect(try seen == array.count && seen == 999_600)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aWrongIndexIsAnErrorAndChangesNothing(_ variant: Table.Variant) throws {
    try withTable(variant) { table throws in
      let array = try SharedArray<String>("a", in: table)
      for index in [-1, 0, 1, Int.max, Int.min] {
        #expect(code { _ = try array[index] } == .outOfBounds)
        #expect(code { try array.remove(at: index) } == .outOfBounds)
        #expect(code { try array.set("x", at: index) } == .outOfBounds)
        if index != 0 { #expect(code { try array.insert("x", at: index) } == .outOfBounds) }
      }
      try array.append(contentsOf: ["a", "b", "c"])
      for index in [-1, 3, 4, Int.max, Int.min] {
        #expect(code { _ = try array[index] } == .outOfBounds)
        #expect(code { try array.remove(at: index) } == .outOfBounds)
        #expect(code { try array.set("x", at: index) } == .outOfBounds)
        #expect(code { try array.mutate(at: index) { $0 = "x" } } == .outOfBounds)
        if index != 3 { #expect(code { try array.insert("x", at: index) } == .outOfBounds) }
      }
      #expect(code { _ = try array.elements(at: 1..<4) } == .outOfBounds)
      #expect(code { _ = try array.elements(at: -1..<2) } == .outOfBounds)
      #expect(try array.elements(at: 3..<3) == [])
      // Inside a barrier the wrong index can be caught, and the barrier goes on.
      try table.barrier { tx in
        #expect(code { try array.remove(at: 3, in: &tx) } == .outOfBounds)
        try array.append("d", in: &tx)
        #expect(try array.remove(at: 3, in: &tx) == "d")
      }
      #expect(try array.allElements() == ["a", "b", "c"])
    }
  }

  @Test func countAndIndexBelongToOneSection() throws {
    try withTable(.rcu) { table throws in
      let array = try SharedArray<Int>("a", in: table)
      try array.append(contentsOf: 0..<1000)
      let other = try worker(table)
      try array.read { elements in
        let count = elements.count
        try other.ask("array-clear a", expecting: "ok")
        #expect(elements.count == count)
        for index in 0..<count { #expect(try elements[index] == index) }
        #expect(try elements.allElements() == Array(0..<1000))
        #expect(code { _ = try elements[count] } == .outOfBounds)
      }
      #expect(try array.isEmpty)
      #expect(code { _ = try array[0] } == .outOfBounds)
    }
  }

  @Test func forEachPassesErrorsOnAndPrefixStopsEarly() throws {
    let table = try Table.temporary()
    let array = try SharedArray<Int>("a", in: table, limits: smallNodes)
    try array.append(contentsOf: 0..<100)
    try array.forEach { index, value in #expect(index == value) }
    for length in [-1, 0, 17, 100, 200] { #expect(try array.prefix(length) == Array(0..<max(0, min(length, 100)))) }
    #expect(try array.first == 0 && array.last == 99)
    #expect(throws: Stop.self) { try array.forEach { _, _ in throw Stop() } }
    try table.barrier { tx in
      var sum = 0
      try array.forEach(in: tx) { _, value in
        sum += value
      }
      #expect(sum == 4950)
    }
  }

  @Test func aSharedTypeIsNeededAndTheNameCanBeReused() throws {
    let table = try Table.temporary()
    let array = try SharedArray<Int>("a", in: table)
    try array.append(1)
    #expect(code { try SharedArray<String>("a", in: table).append("x") } == .typeMismatch)
    #expect(code { _ = try SharedArray<String>("a", in: table).count } == .typeMismatch)
    #expect(code { try SharedArray<Point>("a", in: table).removeAll() } == .typeMismatch)
    let header = try #require(try table.get("a", as: CollectionHeader.self))
    #expect(header.signature == "array of integer" && header.numbers[4] == 1)
    try array.removeAll()
    #expect(table.count == 0)
    try SharedArray<Point>("a", in: table).append(Point(x: 1, tag: 2))
    #expect(try SharedArray<Point>("a", in: table)[0] == Point(x: 1, tag: 2))
  }

  /// A value of 4 GiB that takes no memory, as long as nobody looks at it.
  private struct Endless: TableValue {
    static var tableType: ValueType { .bytes }
    init() {}
    init?(tableBytes: UnsafeRawBufferPointer) {}

    func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
      let count = 1 << 32
      let memory = mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)!
      defer { munmap(memory, count) }
      return try body(UnsafeRawBufferPointer(start: memory, count: count))
    }
  }

  /// A leaf says in 32 bits where its elements end.
  @Test func anElementOfFourGibibytesIsTooLarge() throws {
    let table = try Table.temporary()
    let array = try SharedArray<Endless>("a", in: table)
    let bytes = try SharedArray<[UInt8]>("a", in: table)
    for round in 0..<2 {
      #expect(code { try array.append(Endless()) } == .tooLarge)
      #expect(code { try array.append(contentsOf: [Endless()]) } == .tooLarge)
      #expect(code { try array.insert(Endless(), at: 0) } == .tooLarge)
      if round == 0 { try bytes.append([1]) }
      #expect(code { try array.set(Endless(), at: 0) } == .tooLarge)
    }
    #expect(try bytes.allElements() == [[1]])
  }

  @Test(arguments: Table.Variant.allCases) func aChangeThatFailsHalfWayIsUndoneAndItsBarrierGoesOn(
    _ variant: Table.Variant
  ) throws {
    try withTable(variant, capacityBytes: 1 << 20) { table throws in
      let array = try SharedArray<[UInt8]>("a", in: table)
      let dictionary = try SharedDictionary<Int, [UInt8]>("d", in: table)
      let set = try SharedSet<[UInt8]>("s", in: table)
      try array.append([1])
      try dictionary.set(1, [1])
      let block = [UInt8](repeating: 2, count: 8000)
      try table.barrier { tx in
        try array.append([2], in: &tx)
        try table.reallyCatch(.full) { try array.append(contentsOf: repeatElement(block, count: 500), in: &tx) }
        #expect(try array.count(in: tx) == 2)
      }
      #expect(try array.allElements() == [[1], [2]] && array.problems() == [])
      try table.barrier { tx in
        try dictionary.set(2, [2], in: &tx)
        try table.reallyCatch(.full) { try dictionary.merge((0..<500).map { ($0, block) }, in: &tx) }
        #expect(try dictionary.count(in: tx) == 2)
      }
      #expect(try dictionary.allElements() == [1: [1], 2: [2]] && dictionary.count == 2)
      let long = [UInt8](repeating: 3, count: table.maximumValueLength)
      try table.barrier { tx in
        try table.reallyCatch(.tooLarge) { try array.append(long, in: &tx) }
        try table.reallyCatch(.tooLarge) { try dictionary.merge([(7, [7]), (8, long + [0])], in: &tx) }
        try table.reallyCatch(.tooLarge) { try set.formUnion([[1], [UInt8](repeating: 0, count: 1 << 16)], in: &tx) }
        try array.append([4], in: &tx)
      }
      #expect(try array.allElements() == [[1], [2], [4]])
      #expect(try dictionary.keys().sorted() == [1, 2] && dictionary.count == 2)
      #expect(try set.allElements() == [] && set.isEmpty && !set.contains([1]))
    }
  }
}

extension Table {
  /// Expects `body` to throw that error, and goes on.
  func reallyCatch(_ expected: TableError.Code, _ body: () throws -> Void) throws {
    let caught = code(body)
    #expect(caught == expected)
  }
}

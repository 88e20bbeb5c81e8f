import TableTestSupport
import TestSupport
import Testing

@testable import SharedTable

/// G8: nodes that contradict each other give an error, never a crash or a hang.
@Suite struct DamagedArrayTests {
  /// Everything that reads or changes an array, whatever it says.
  private func useAll(_ table: Table, _ array: SharedArray<String>) throws {
    let codes: Set<TableError.Code?> = [nil, .damaged, .outOfBounds, .typeMismatch, .tooLarge, .full]
    let outcomes = [
      code { _ = try array.count }, code { _ = try array.allElements() }, code { _ = try array[0] },
      code { _ = try array[17] }, code { _ = try array[39] }, code { _ = try array.elements(at: 5..<30) },
      code { _ = try array.read { elements in try elements[elements.count - 1] } },
    ]
    for outcome in outcomes { #expect(codes.contains(outcome)) }
    let changes: [(inout Transaction) throws -> Void] = [
      { tx in try array.append("x", in: &tx) }, { tx in try array.insert("x", at: 20, in: &tx) },
      { tx in _ = try array.remove(at: 11, in: &tx) }, { tx in try array.set("y", at: 30, in: &tx) },
      { tx in try array.set("z", at: 39, in: &tx) }, { tx in try array.insert("x", at: 39, in: &tx) },
      { tx in _ = try array.popFirst(in: &tx) }, { tx in _ = try array.popLast(in: &tx) },
      { tx in _ = try array.removeAll(in: &tx) { $0.hasSuffix("7") } }, { tx in try array.removeAll(in: &tx) },
    ]
    for change in changes {
      do {
        try table.barrier { tx in
          try change(&tx)
          throw Stop()
        }
      } catch let error as TableError {
        #expect(codes.contains(error.code))
      } catch is Stop {}
    }
  }

  @Test func randomDamageToNodesAndHeadersIsAnErrorAtMost() throws {
    try withTable(.rcu) { table throws in
      let array = try SharedArray<String>("a", in: table, limits: smallNodes)
      let watched = try SharedArray<String>("a", in: observer(of: table))
      for index in 0..<40 { try array.insert("element \(index)", at: index / 2) }
      let state = try table.read { view in try array.tree.state(in: view) }
      #expect(state.level >= 2)
      let keys = try table.read { view in try view.keys(prefix: "a/") }
      var random = SplitMix(seed: 3)
      var damaged = 0
      for _ in 0..<800 {
        let key = keys[random.below(keys.count)]
        let good = try #require(try table.bytes(forKey: key))
        var bytes = good
        switch random.below(6) {
        case 0: bytes.removeLast(1 + random.below(bytes.count))
        case 1: bytes += [UInt8](repeating: UInt8(random.below(256)), count: random.below(40))
        case 2: bytes = try #require(try table.bytes(forKey: keys[random.below(keys.count)]))
        case 3:
          // A word that may be a count, a number of a node, or an end.
          let word = random.below(bytes.count / 4) * 4
          let value = [0, 1, 2, 7, 1 << 20, 0x7fff_ffff, 0xffff_ffff][random.below(7)]
          for byte in 0..<4 where word + byte < bytes.count {
            bytes[word + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte))
          }
        default: for _ in 0...random.below(3) { bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8)) }
        }
        try table.set(key, node(bytes))
        if code({ _ = try watched.allElements() }) != nil { damaged += 1 }
        try useAll(table, array)
        try table.set(key, node(good))
      }
      #expect(damaged > 400)
      for _ in 0..<200 {
        let numbers: CollectionHeader.Numbers = [
          random.below(60), random.below(40), random.below(5), random.below(60), random.below(40),
        ]
        try table.set("a", CollectionHeader("array of string", numbers))
        try useAll(table, array)
      }
      let impossible: [CollectionHeader.Numbers] = [
        [Int.max, 1, 0, 2, 0], [40, 1, 49, 2, 0], [40, Int.max, 2, Int.max, 0], [0, 0, 3, 9, 0], [0, 1, 0, 9, 0],
        [40, 0, 0, 9, 0], [40, 1, 1, Int.max, 0], [0, 0, 0, 5, 5], [40, 9, 0, 9, 0], [-1, 1, 0, 2, 0],
      ]
      for numbers in impossible {
        try table.set("a", CollectionHeader("array of string", numbers))
        #expect(code { _ = try array.count } == .damaged)
        try useAll(table, array)
      }
      let most = 1 << 60 - 1
      for numbers in [[40, 1, 48, 2, 0], [most, 1, 0, most, 1], [most, 1, 0, 60, 2]] as [CollectionHeader.Numbers] {
        try table.set("a", CollectionHeader("array of string", numbers))
        try useAll(table, array)
      }
    }
  }

  /// An element below the root needs nothing of the tail.
  @Test func elementsBelowTheRootAreReadBesideADamagedTail() throws {
    let table = try Table.temporary(capacityBytes: 1 << 20)
    let array = try SharedArray<Int>("a", in: table, limits: smallNodes)
    for index in 0..<28 { try array.append(index) }
    let state = try table.read { view in try array.tree.state(in: view) }
    try table.set("a/\(state.tail)", node([]))
    #expect(code { _ = try array.count } == .damaged)
    #expect(try array[3] == 3)
    #expect(try table.read { view in try array.get(at: 3, in: view) } == 3)
    #expect(try table.barrier { tx in try array.get(at: 3, in: tx) } == 3)
  }

  /// The nodes that a full tail goes below are copied, and looked at before.
  @Test func noTailGoesBelowADamagedNode() throws {
    let table = try Table.temporary(capacityBytes: 1 << 20)
    let array = try SharedArray<Int>("a", in: table, limits: smallNodes)
    for index in 0..<28 { try array.append(index) }
    let (state, lowest) = try table.read { view in
      let state = try array.tree.state(in: view)
      let root = try array.tree.inner(.init(id: state.root, count: state.rooted), level: 2, in: view)
      return (state, root.children.last!.id)
    }
    // The tail is full, and of the two inner nodes above the leaves the last one has room.
    #expect(state.level == 2 && state.rooted == 24 && state.tailCount == 4)
    for id in [state.root, lowest] {
      let good = try #require(try table.bytes(forKey: "a/\(id)"))
      let (idStart, countStart) = (good.count - 16, good.count - 8)
      var damaged: [[UInt8]] = [
        Array(good.dropLast(16)), good + [UInt8](repeating: 0, count: 16), Array(good.prefix(8)),
        Array(good.dropLast()),
      ]
      for (start, value) in [
        (idStart, 0), (idStart, -1), (countStart, 0), (countStart, -8), (countStart, 9), (countStart, Int.max),
      ] {
        var bytes = good
        for byte in 0..<8 { bytes[start + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
        damaged.append(bytes)
      }
      for (start, value) in [(0, 0), (0, 3), (4, 0), (4, 3)] {
        var bytes = good
        bytes[start] = UInt8(value)
        damaged.append(bytes)
      }
      for bytes in damaged {
        try table.set("a/\(id)", node(bytes))
        #expect(code { try array.append(28) } == .damaged, "\(bytes)")
      }
      try table.set("a/\(id)", node(good))
    }
    try array.append(28)
    #expect(try array.allElements() == Array(0..<29))
    #expect(try array.problems() == [])
  }

  private func node(_ bytes: [UInt8]) -> ArrayNodeBytes { bytes.withUnsafeBytes { ArrayNodeBytes(tableBytes: $0)! } }

  @Test func aTreeThatLeadsToTheSameNodesAgainAndAgainEnds() throws {
    let table = try Table.temporary(capacityBytes: 1 << 20)
    let array = try SharedArray<String>("a", in: table)
    // Level for level twice the one below: 2^40 empty strings in some hundred bytes.
    try table.set("a/1", ArrayNodeBytes(.leaf(ArrayLeaf(["", ""], for: array.tree))))
    for level in 1...39 {
      let child = ArrayInner.Child(id: level, count: 1 << level)
      try table.set("a/\(level + 1)", ArrayNodeBytes(.inner(ArrayInner(level: level, children: [child, child]))))
    }
    try table.set("a", CollectionHeader("array of string", [1 << 40, 40, 39, 41, 0]))
    var seen = 0
    #expect(
      code {
        try array.forEach { _, _ in
          seen += 1
          if seen == 4 << 20 { throw CancellationError() }
        }
      } == .damaged)
    #expect(try array[1 << 39] == "")
  }

  @Test func aMissingNodeIsDamageAndNamed() throws {
    let table = try Table.temporary()
    let array = try SharedArray<Int>("a", in: table, limits: smallNodes)
    try array.append(contentsOf: 0..<20)
    try table.remove("a/2")
    let error = #expect(throws: TableError.self) { try array.allElements() }
    #expect(error?.code == .damaged)
    #expect(error?.message.contains("node 2") == true)
    try array.removeAll()
    try array.append(1)
    #expect(try array.allElements() == [1])
  }

  /// What is read of a leaf that is to be changed lies within it.
  @Test func aLeafWhoseEndsDoNotFitItsLengthIsNotChanged() throws {
    let array = try SharedArray<String>("a", in: Table.temporary())
    let good = try ArrayLeaf(["ab", "", "cde", "f"], for: array.tree).bytes
    func changes(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
      guard let node = ArrayNodeSpan(bytes.span.bytes) else { return false }
      return ArrayLeafChange(node, range, length: 3, alignment: 1) != nil
    }
    func isRefused(_ bytes: [UInt8]) -> Bool { (0...4).allSatisfy { !changes(bytes, $0..<min(4, $0 + 1)) } }
    for range in [0..<0, 0..<1, 3..<4, 4..<4] { #expect(changes(good, range)) }
    for range in [4..<5, 5..<5, -1..<0] { #expect(!changes(good, range)) }
    for length in 0..<good.count { #expect(isRefused(Array(good[..<length])), "cut to \(length) bytes") }
    for more in 1...40 { #expect(isRefused(good + [UInt8](repeating: 0, count: more)), "\(more) bytes more") }
    // The last end, and the ends on both sides of the third element.
    for (end, refused) in [(3, [4..<4, 3..<4, 0..<1]), (2, [2..<3]), (1, [2..<3])] {
      var bytes = good
      bytes[8 + 4 * end + 1] = 1
      for range in refused { #expect(!changes(bytes, range), "end \(end)") }
    }
  }

  @Test func anInnerNodeOfAnotherLengthOrWithAChildThatCannotBeIsNone() throws {
    let children = (1...3).map { ArrayInner.Child(id: $0, count: 10 * $0) }
    let good = ArrayInner(level: 2, children: children).bytes
    func inner(_ bytes: [UInt8]) -> ArrayInner? {
      guard let node = ArrayNodeSpan(bytes.span.bytes) else { return nil }
      return ArrayInner(node)
    }
    #expect(inner(good)?.children == children && inner(good)?.level == 2)
    for length in 0..<good.count { #expect(inner(Array(good[..<length])) == nil, "cut to \(length) bytes") }
    #expect(inner(good + [UInt8](repeating: 0, count: 16)) == nil)
    // A number or a count of 0, and of more than an `Int` has.
    for word in 0..<6 {
      for byte in [0, 7] {
        var bytes = good
        bytes[8 + 8 * word + byte] = byte == 0 ? 0 : 0x80
        #expect(inner(bytes) == nil, "word \(word)")
      }
    }
  }

  /// A leaf of another length than the header says is found out when more comes behind it.
  @Test func aRootThatIsShorterThanTheHeaderSaysIsDamage() throws {
    let table = try Table.temporary()
    let array = try SharedArray<Int>("a", in: table, limits: smallNodes)
    try array.append(contentsOf: 0..<8)
    var numbers = try #require(try table.get("a", as: CollectionHeader.self)).numbers
    #expect(numbers[0] == 4 && numbers[2] == 0)
    numbers[0] = 5
    try table.set("a", CollectionHeader("array of integer", numbers))
    #expect(code { try array.append(8) } == .damaged)
  }
}

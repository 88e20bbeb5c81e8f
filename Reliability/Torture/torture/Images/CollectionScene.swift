import SharedTable
import TableEngine

/// The table of a ``Scene`` with an array, a dictionary, a set, a cache and a value besides, and what they must hold.
struct CollectionScene {
  let table: Table
  let collections: Collections
  /// What readers find now.
  private(set) var contents = CollectionContents()
  /// What they find after each of the operation's commits.
  private(set) var outcomes: [CollectionContents] = []

  /// Two full leaves and a tail; some pages of an index; one page of a ledger.
  init(_ name: String, _ variant: Table.Variant) throws {
    let scene = try Scene(name, variant)
    table = scene.table
    collections = try Collections(in: table)
    contents.beside = Contents(scene.model)
    for index in 0..<300 { try append("element \(index)") }
    for index in 0..<30 { try set(Self.key(index), index) }
    for index in 0..<10 {
      try collections.set.insert("member \(index)")
      contents.set.insert("member \(index)")
    }
    for index in 0..<Self.cached { try cache(index) }
    try collections.point.set(Collections.Point(x: 1, y: 2))
    contents.point = Collections.Point(x: 1, y: 2)
    _ = try table.administration.maintain()
  }

  /// Of the dictionary: a dozen to a page.
  private static func key(_ index: Int) -> String { "key \(index) " + String(repeating: "d", count: 32) }

  private mutating func append(_ element: String) throws {
    try collections.array.append(element)
    contents.array.append(element)
  }

  private mutating func set(_ key: String, _ value: Int) throws {
    try collections.dictionary.set(key, value)
    contents.dictionary[key] = value
  }

  // MARK: - The operations

  /// - Returns: the operation, whose outcomes are noted.
  mutating func prepare(_ operation: CollectionOperation) throws -> () throws -> Void {
    switch operation {
    case .arrayInsertFront: return inserting(at: 0)
    case .arrayInsertMiddle:
      // Splits the first leaf.
      try collections.array.insert("first", at: 0)
      contents.array.insert("first", at: 0)
      return inserting(at: 10)
    case .arrayRemove: return try removingUntilLeavesJoin()
    case .arrayRemoveFirst: return removingFirst(200)
    case .arrayAppend: return appending()
    case .arrayAppendFull:
      while contents.array.count % 128 != 0 { try append("element \(contents.array.count)") }
      return appending()
    case .dictionarySet: return try settingUntilAPageSplits()
    case .dictionaryOverwrite: return overwriting()
    case .dictionaryRemove: return try removingUntilPagesJoin()
    case .dictionaryRemoveWhere: return removing { $0 % 2 == 0 }
    case .dictionaryRemoveAll: return removingAll()
    case .setInsert: return insertingMember()
    case .cacheAdd: return try adding()
    case .cacheEvict: return try evicting(1, .entries(Self.cached), cost: nil)
    case .cacheEvictByCost: return try evicting(4, .bytes(Self.cached * Self.cost), cost: 3 * Self.cost + 5)
    case .cacheRemove: return try uncaching()
    case .compute: return try computing()
    case .mutate: return mutating()
    }
  }

  private mutating func expect(_ change: (inout CollectionContents) -> Void) {
    var outcome = contents
    change(&outcome)
    outcomes = [outcome]
  }

  private mutating func inserting(at index: Int) -> () throws -> Void {
    expect { $0.array.insert("new", at: index) }
    let array = collections.array
    return { try array.insert("new", at: index) }
  }

  private mutating func appending() -> () throws -> Void {
    expect { $0.array.append("new") }
    let array = collections.array
    return { try array.append("new") }
  }

  private mutating func removingFirst(_ count: Int) -> () throws -> Void {
    expect { $0.array.removeFirst(count) }
    let array = collections.array
    return { try array.removeFirst(count) }
  }

  private mutating func removingUntilLeavesJoin() throws -> () throws -> Void {
    let array = collections.array
    // The first leaf becomes two.
    try array.insert("first", at: 0)
    contents.array.insert("first", at: 0)
    let count = try countUntilPartsChange { _, tx in _ = try array.remove(at: 0, in: &tx) }
    contents.array.removeFirst(count)
    expect { $0.array.removeFirst() }
    return { _ = try array.remove(at: 0) }
  }

  private mutating func settingUntilAPageSplits() throws -> () throws -> Void {
    let dictionary = collections.dictionary
    let count = try countUntilPartsChange { index, tx in try dictionary.set(Self.key(100 + index), 0, in: &tx) }
    for index in 0..<count { contents.dictionary[Self.key(100 + index)] = 0 }
    expect { $0.dictionary[Self.key(100 + count)] = 7 }
    return { try dictionary.set(Self.key(100 + count), 7) }
  }

  private mutating func removingUntilPagesJoin() throws -> () throws -> Void {
    let dictionary = collections.dictionary
    let count = try countUntilPartsChange { index, tx in
      _ = try dictionary.removeValue(forKey: Self.key(index), in: &tx)
    }
    for index in 0..<count { contents.dictionary[Self.key(index)] = nil }
    expect { $0.dictionary[Self.key(count)] = nil }
    return { _ = try dictionary.removeValue(forKey: Self.key(count)) }
  }

  private mutating func overwriting() -> () throws -> Void {
    expect { $0.dictionary[Self.key(5)] = 500 }
    let dictionary = collections.dictionary
    return { try dictionary.set(Self.key(5), 500) }
  }

  private mutating func removing(where isWanted: @escaping (Int) -> Bool) -> () throws -> Void {
    expect { contents in contents.dictionary = contents.dictionary.filter { !isWanted($0.value) } }
    let dictionary = collections.dictionary
    return { _ = try dictionary.removeAll { _, value in isWanted(value) } }
  }

  private mutating func removingAll() -> () throws -> Void {
    expect { $0.dictionary = [:] }
    let dictionary = collections.dictionary
    return { try dictionary.removeAll() }
  }

  private mutating func insertingMember() -> () throws -> Void {
    expect { $0.set.insert("new") }
    let set = collections.set
    return { try set.insert("new") }
  }

  private mutating func mutating() -> () throws -> Void {
    expect { $0.point.x += 41 }
    let point = collections.point
    return { try point.mutate { $0.x += 41 } }
  }

  // MARK: - The cache's

  /// One page of a ledger: its oldest element is the one that goes.
  private static let cached = 40
  /// Of each element.
  private static let cost = 10

  private mutating func cache(_ index: Int) throws {
    try collections.cache(.entries(1000)).set("cached \(index)", index, cost: Self.cost)
    contents.cache["cached \(index)"] = index
  }

  private mutating func adding() throws -> () throws -> Void {
    for index in Self.cached..<48 { try cache(index) }
    return try evicting(0, .entries(1000), cost: nil)
  }

  private mutating func evicting(_ count: Int, _ limit: CacheLimit, cost: Int?) throws -> () throws -> Void {
    expect { contents in
      for index in 0..<count { contents.cache["cached \(index)"] = nil }
      contents.cache["new"] = 1
    }
    let cache = try collections.cache(limit)
    return { try cache.set("new", 1, cost: cost) }
  }

  private mutating func uncaching() throws -> () throws -> Void {
    expect { $0.cache["cached 5"] = nil }
    let cache = try collections.cache(.entries(1000))
    return { try cache.remove("cached 5") }
  }

  private mutating func computing() throws -> () throws -> Void {
    expect { $0.cache[Collections.computed] = Collections.computedValue }
    outcomes.insert(contents, at: 0)
    let cache = try collections.cache(.entries(1000))
    // Starts the thread whose mutex says that this process lives.
    _ = try table.segment.presence()
    return { _ = try cache.value(forKey: Collections.computed) { Collections.computedValue } }
  }

  // MARK: - Parts

  /// Makes changes until one more makes another number of parts; that is tried in barriers that are taken back.
  /// - Returns: how many it made.
  private func countUntilPartsChange(_ change: (Int, inout Transaction) throws -> Void) throws -> Int {
    var count = 0
    while true {
      do {
        try table.barrier { (tx: inout Transaction) in
          let before = try Self.countParts(in: tx)
          try change(count, &tx)
          if try Self.countParts(in: tx) != before { throw Scene.ChangeOfMind() }
        }
      } catch is Scene.ChangeOfMind {
        _ = try table.administration.maintain()
        return count
      }
      count += 1
    }
  }

  func countParts() throws -> Int { try table.read { (view: borrowing ReadView) in try Self.countParts(in: view) } }

  /// Nodes of the array, and pages of the dictionary's index and the cache's ledger.
  private static func countParts(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws -> Int {
    var count = 0
    for prefix in [Array("array/".utf8), Array("dictionary/".utf8) + [255], Array("cache#r".utf8)] {
      for number in 0..<20 where try section.contains(prefix + Array("\(number)".utf8)) { count += 1 }
    }
    return count
  }
}

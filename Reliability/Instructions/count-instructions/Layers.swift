import SharedTable

/// What stands on the table, each with some hundred elements: a key that lies in another bucket than its first costs more, and
/// only the mean of many is the same in each run.
struct Layers {
  private let table: Table
  private let dictionary: SharedDictionary<String, Int>
  private let few: SharedDictionary<String, Int>
  private let set: SharedSet<String>
  private let cache: SharedCache<String, Int>
  private let expiring: SharedCache<String, Int>
  private let array: SharedArray<Int>
  private let onces: [SharedOnce<Int>]
  private let looks: [ReadAccessor<Int>]
  private let changes: [Accessor<Void>]
  private let properties: [Property]
  private let keys: [String]
  private let structKeys: [String]

  private static let count = 400

  private struct Sample: SharedStruct {
    static let schemaName = "org.example.sample"
    var count = 1
    var weight = 0.5
    var isOpen = true
  }

  private struct Property {
    @Shared var value: Int
  }

  init(_ table: Table) throws {
    self.table = table
    keys = (100..<100 + Self.count).map { "element-\($0)" }
    structKeys = keys.map { "struct-\($0)" }
    dictionary = try SharedDictionary("dictionary", in: table)
    few = try SharedDictionary("few", in: table)
    try few.merge(keys.prefix(10).map { ($0, 1) })
    set = try SharedSet("set", in: table)
    cache = try SharedCache("cache", in: table, limit: .entries(1000))
    expiring = try SharedCache("expiring", in: table, limit: .entries(1000), timeToLive: .seconds(1_000_000))
    array = try SharedArray("array", in: table)
    try array.append(contentsOf: keys.map { _ in 1 })
    onces = try keys.map { try SharedOnce("once-\($0)", in: table) }
    looks = keys.map { Guarded("guarded-\($0)", in: table, default: 0).accessor { $0 } }
    changes = keys.map { Guarded("guarded-\($0)", in: table, default: 0).accessor { $0 += 1 } }
    properties = keys.map { Property(value: Shared(wrappedValue: 0, "shared-\($0)", in: table)) }
    for key in keys {
      try table.set(key, 1)
      try dictionary.set(key, 1)
      try set.insert(key)
      try cache.set(key, 1)
      try expiring.set(key, 1)
      try table.set("shared-\(key)", 1)
      try table.set("guarded-\(key)", 1)
      try table.set("once-\(key)", 1)
    }
  }

  func run(_ operation: Operation, times: Int) throws {
    // Only for this one: with more keys in the table others would lie elsewhere, and cost more or less.
    if operation == .getStruct || operation == .setStruct { for key in structKeys { try table.set(key, Sample()) } }
    var sum = 0
    for round in 0..<times / Self.count { sum += try runOnAll(operation, round) }
    guard sum == times else { throw Failure.missed }
  }

  // Out of line, as each that is long: into a function of too many blocks the compiler inlines no more of what is measured.
  @inline(never)
  private func countsOfStructs() throws -> Int {
    var sum = 0
    for key in structKeys { sum += try table.get(key, as: Sample.self)?.count ?? 0 }
    return sum
  }

  private func hits(of cache: SharedCache<String, Int>) throws -> Int {
    var sum = 0
    for key in keys { sum += try cache[key] ?? 0 }
    return sum
  }

  @inline(never)
  private func runOnWhole(_ operation: Operation) throws -> Int {
    var sum = 0
    switch operation {
    case .arrayWalk: return try array.allElements().reduce(0, +)
    case .setWalk:
      try set.forEach { _ in sum += 1 }
      return sum
    case .dictionaryWalk:
      for _ in keys { sum += try few.allElements().count / 10 }
      return sum
    default:
      let other = try SharedDictionary<String, Int>("other", in: table)
      for _ in keys {
        for key in keys.prefix(10) { try other.set(key, 1) }
        try other.removeAll()
      }
      return keys.count
    }
  }

  @inline(never)
  private func change(_ operation: Operation) throws {
    switch operation {
    case .setInsertAndRemove:
      for key in keys {
        try set.remove(key)
        try set.insert(key)
      }
    case .dictionarySetAndRemove:
      for key in keys {
        try dictionary.removeValue(forKey: key)
        try dictionary.set(key, 1)
      }
    case .cacheSetAndRemove:
      for key in keys {
        try cache.remove(key)
        try cache.set(key, 1)
      }
    case .keyedBarrier: for key in keys { try table.barrier(keys: [key]) { tx in try tx.set(key, 1) } }
    default: for change in changes { try change.accessSync() }
    }
  }

  private func runOnAll(_ operation: Operation, _ round: Int) throws -> Int {
    var sum = 0
    switch operation {
    case .dictionaryGet: for key in keys { sum += try dictionary[key] ?? 0 }
    case .setContains: for key in keys { sum += try set.contains(key) ? 1 : 0 }
    case .cacheHit: sum = try hits(of: cache)
    case .cacheHitExpiring: sum = try hits(of: expiring)
    case .cacheHitOrCompute: for key in keys { sum += try cache.value(forKey: key) { throw Failure.missed } }
    case .sharedRead: for property in properties { sum += property.value }
    case .onceRead: for once in onces { sum += try once.value { throw Failure.missed } }
    case .guardedRead: for look in looks { sum += try look.accessSync() }
    case .getStruct: sum = try countsOfStructs()
    case .arrayElement: for index in 0..<Self.count { sum += try array[index] }
    case .arrayAppend:
      for _ in keys { try array.append(1) }
      sum = keys.count
    case .arraySet:
      for index in 0..<Self.count { try array.set(1, at: index) }
      sum = keys.count
    case .setStruct:
      for key in structKeys { try table.set(key, Sample()) }
      sum = keys.count
    case .cacheSet:
      for key in keys { try cache.set(key, 1) }
      sum = keys.count
    case .cacheSetNew:
      for key in keys { try cache.set("\(round)-\(key)", 1) }
      sum = keys.count
    case .dictionarySet:
      for key in keys { try dictionary.set(key, 1) }
      sum = keys.count
    case .arrayWalk, .setWalk, .dictionaryWalk, .dictionaryEmpty: sum = try runOnWhole(operation)
    case .setInsertAndRemove, .dictionarySetAndRemove, .cacheSetAndRemove, .keyedBarrier, .guardedChange:
      try change(operation)
      sum = keys.count
    default: for key in keys { sum += try table.get(key, as: Int.self) ?? 0 }
    }
    return sum
  }
}

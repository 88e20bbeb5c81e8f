import Dispatch
import SharedTable
import Synchronization

// What stands on the table beside the table's own read and write: numbers under text keys of twelve bytes.

/// A thousand numbers in each of the forms that the library has for them, in one table, which is dropped with this object. Contestants
/// bind the forms to constants of their own.
private final class Layers {
  static let count = 1000

  /// "element-1000" to "element-1999", in an order of their own.
  let keys: [String]
  private let ours: OurTable
  let dictionary: SharedDictionary<String, Int>
  let set: SharedSet<String>
  let cache: SharedCache<String, Int>
  let array: SharedArray<Int>
  let properties: [Property]
  let onces: [SharedOnce<Int>]
  let looks: [ReadAccessor<Int>]

  struct Property {
    @Shared var value: Int
  }

  var table: Table { ours.table }

  init() throws {
    let ours = try OurTable(Workload(keyCount: 10_000))
    self.ours = ours
    let table = ours.table
    var generator = SplitMix(state: 42)
    keys = (1000..<1000 + Self.count).map { "element-\($0)" }.shuffled(using: &generator)
    dictionary = try SharedDictionary("dictionary", in: table)
    set = try SharedSet("set", in: table)
    cache = try SharedCache("cache", in: table, limit: .entries(2 * Self.count))
    array = try SharedArray("array", in: table)
    try array.append(contentsOf: keys.map { _ in 1 })
    properties = keys.map { Property(value: Shared(wrappedValue: 0, "shared-\($0)", in: table)) }
    onces = try keys.map { try SharedOnce("once-\($0)", in: table) }
    looks = keys.map { Guarded("guarded-\($0)", in: table, default: 0).accessor { $0 } }
    try dictionary.merge(keys.map { ($0, 1) })
    for key in keys {
      try set.insert(key)
      try cache.set(key, 1)
      for name in ["", "shared-", "once-", "guarded-"] { try table.set("\(name)\(key)", 1) }
    }
  }
}

/// Reads `rounds` times all that a form holds; each element is a 1.
private func reads(_ name: String, _ sumOfAll: @escaping () throws -> Int) -> Contestant {
  let rounds = 10
  return Contestant(name) { _ in
    var sum = 0
    for _ in 0..<rounds { sum += try sumOfAll() }
    guard sum == rounds * Layers.count else { throw Failure("\(name): the sum is \(sum)") }
    return sum
  }
}

/// Changes `rounds` times all that a form holds.
private func writes(_ name: String, rounds: Int = 4, _ changeAll: @escaping () throws -> Void) -> Contestant {
  Contestant(name) { _ in
    for _ in 0..<rounds { try changeAll() }
    return rounds * Layers.count
  }
}

func layerReadsContest() throws -> Contest {
  let layers = try Layers()
  let (table, keys) = (layers.table, layers.keys)
  let (dictionary, set, cache, array) = (layers.dictionary, layers.set, layers.cache, layers.array)
  let numbers = Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) })
  let mutex = Mutex(numbers)
  let queue = DispatchQueue(label: "bench.layers", attributes: .concurrent)
  func sum<Element>(_ elements: [Element], _ read: (Element) throws -> Int) rethrows -> Int {
    var sum = 0
    for element in elements { sum += try read(element) }
    return sum
  }
  return Contest(
    name: "layer-reads", work: "one of a thousand numbers read", reference: "get",
    contestants: [
      reads("get") { try sum(keys) { try table.get($0, as: Int.self) ?? 0 } },
      reads("dictionary get") { try sum(keys) { try dictionary[$0] ?? 0 } },
      reads("set contains") { try sum(keys) { try set.contains($0) ? 1 : 0 } },
      reads("cache hit") { try sum(keys) { try cache[$0] ?? 0 } },
      reads("cache value(forKey:orInsert:), a hit") {
        try sum(keys) { try cache.value(forKey: $0) { throw Failure("a miss") } }
      },
      reads("@Shared") { sum(layers.properties) { $0.value } },
      reads("SharedOnce, made") { try sum(layers.onces) { try $0.value { throw Failure("a miss") } } },
      reads("Guarded") { try sum(layers.looks) { try $0.accessSync() } },
      reads("array element") { try sum(Array(0..<Layers.count)) { try array[$0] } },
      reads("Mutex, a dictionary") { sum(keys) { key in mutex.withLock { $0[key] ?? 0 } } },
      reads("GCD barrier queue, a dictionary") { sum(keys) { key in queue.sync { numbers[key] ?? 0 } } },
    ])
}

func layerWritesContest() throws -> Contest {
  let layers = try Layers()
  let (table, keys) = (layers.table, layers.keys)
  let (dictionary, cache, array) = (layers.dictionary, layers.cache, layers.array)
  let mutex = Mutex(Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) }))
  let guarded = GuardedNumbers(keys)
  let queue = DispatchQueue(label: "bench.layers", attributes: .concurrent)
  let growing = try SharedArray<Int>("growing", in: table)
  return Contest(
    name: "layer-writes", work: "one of a thousand numbers overwritten, or appended", reference: "set",
    contestants: [
      // Here also the table is kept.
      writes("set") { try withExtendedLifetime(layers) { for key in keys { try table.set(key, 1) } } },
      writes("dictionary set") { for key in keys { try dictionary.set(key, 1) } },
      writes("cache set") { for key in keys { try cache.set(key, 1) } },
      // To empty it is measured, too: some thousandth of it.
      writes("array append") {
        for _ in keys { try growing.append(1) }
        if try growing.count >= 10 * Layers.count { try growing.removeAll() }
      },
      writes("array set") { for index in 0..<Layers.count { try array.set(1, at: index) } },
      writes("Mutex, a dictionary") { for key in keys { mutex.withLock { $0[key] = 1 } } },
      writes("GCD barrier queue, a dictionary") {
        for key in keys { queue.sync(flags: .barrier) { guarded.numbers[key] = 1 } }
      },
    ])
}

/// What a queue guards.
private final class GuardedNumbers: @unchecked Sendable {
  // Sendable because every access goes through the queue.
  var numbers: [String: Int]
  init(_ keys: [String]) { numbers = Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) }) }
}

/// Few elements beside a million other keys, and an array of a million.
func layersBesideManyContest() throws -> Contest {
  let ours = try OurTable(Workload(keyCount: 1_000_000))
  let table = ours.table
  let few = try SharedDictionary<Int, Int>("few", in: table)
  try few.merge((0..<10).map { ($0, 1) })
  let emptied = try SharedDictionary<Int, Int>("emptied", in: table)
  let array = try SharedArray<Int>("array", in: table)
  for _ in 0..<100 { try array.append(contentsOf: [Int](repeating: 1, count: 10_000)) }
  var generator = SplitMix(state: 42)
  let indexes = (0..<10_000).map { _ in Int.random(in: 0..<1_000_000, using: &generator) }
  return Contest(
    name: "layers-1m", work: "ten elements beside a million other keys, or one of an array's million elements",
    reference: "get",
    contestants: [
      Contestant("get") { try ours.get($0, from: table) },
      Contestant("array element, one of a million") { _ in
        var sum = 0
        for index in indexes { sum += try array[index] }
        guard sum == indexes.count else { throw Failure("the sum is \(sum)") }
        return sum
      },
      Contestant("ten elements iterated") { _ in
        for _ in 0..<100 where try few.allElements().count != 10 { throw Failure("an element is missing") }
        return 100
      },
      Contestant(
        "ten elements emptied", beside: nil,
        measuring: { _ in
          var elapsed = 0
          for _ in 0..<20 {
            try emptied.merge((0..<10).map { ($0, 1) })
            let begin = now()
            try emptied.removeAll()
            elapsed += now() - begin
          }
          return Double(elapsed) / 20
        }),
    ])
}

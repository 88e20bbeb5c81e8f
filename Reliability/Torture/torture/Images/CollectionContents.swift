import SharedTable

/// The collections of a ``CollectionScene``.
struct Collections {
  let table: Table
  let array: SharedArray<String>
  let dictionary: SharedDictionary<String, Int>
  let set: SharedSet<String>
  let point: SharedValue<Point>

  struct Point: SharedStruct, Hashable {
    static let schemaName = "torture.point"
    var x = 0
    var y = 0
  }

  init(in table: Table) throws {
    self.table = table
    array = try SharedArray("array", in: table)
    dictionary = try SharedDictionary("dictionary", in: table)
    set = try SharedSet("set", in: table)
    point = try SharedValue("point", in: table, default: Point())
  }

  func cache(_ limit: CacheLimit) throws -> SharedCache<String, Int> {
    try SharedCache("cache", in: table, limit: limit)
  }

  /// Of the cache's element that is computed.
  static let computed = "computed"
  static let computedValue = 4711
}

/// What they hold, and what lies beside them.
struct CollectionContents: Equatable {
  var array: [String] = []
  var dictionary: [String: Int] = [:]
  var set: Set<String> = []
  /// Read as the table's keys: a read by the cache would count as a use.
  var cache: [String: Int] = [:]
  var point = Collections.Point()
  var beside = Contents()

  init() {}

  /// Of one snapshot of a table.
  init(of table: Table) throws {
    let collections = try Collections(in: table)
    var contents = CollectionContents()
    try table.read { (view: borrowing ReadView) in
      try collections.array.forEach(in: view) { _, element in contents.array.append(element) }
      try collections.dictionary.forEach(in: view) { key, value in contents.dictionary[key] = value }
      try collections.set.forEach(in: view) { element in contents.set.insert(element) }
      contents.point = try collections.point.value(in: view)
      try view.forEach { key, entry in
        let (bytes, number) = (entry.bytes, entry.value(as: Int.self))
        key.withUnsafeBytes { key in
          if key.starts(with: Self.cachePrefix) {
            contents.cache[String(decoding: key.dropFirst(Self.cachePrefix.count), as: UTF8.self)] = number ?? -1
          } else if key.starts(with: Scene.keyPrefix) {
            bytes.withUnsafeBytes { contents.beside.add(key, $0) }
          }
        }
      }
    }
    self = contents
  }

  private static let cachePrefix = Array("cache/".utf8)

  /// Writes to each collection, in more than one way to those that have several, and notes here what they must hold then.
  mutating func changeEach(of collections: Collections) throws {
    try changeArray(collections.array)
    try collections.dictionary.set("one more", 1)
    dictionary["one more"] = 1
    for key in dictionary.keys.sorted().suffix(2) {
      try collections.dictionary.set(key, 2)
      dictionary[key] = 2
    }
    let first = dictionary.keys.min()!
    guard try collections.dictionary.removeValue(forKey: first) == dictionary.removeValue(forKey: first) else {
      throw Wrong("another value was removed")
    }
    try collections.set.insert("one more")
    set.insert("one more")
    try collections.point.mutate { $0.y += 1 }
    point.y += 1
    try changeCache(collections)
  }

  private mutating func changeArray(_ array: SharedArray<String>) throws {
    try array.append("last")
    self.array.append("last")
    for index in [0, self.array.count / 2] {
      try array.insert("one more", at: index)
      self.array.insert("one more", at: index)
    }
    guard try array.remove(at: 1) == self.array.remove(at: 1) else { throw Wrong("another element was removed") }
  }

  /// One more element pushes another out; and one is computed, unless it is there: whoever computed it is dead. Nothing is read by the
  /// cache: it would tell the table so, later, on a thread of its own.
  private mutating func changeCache(_ collections: Collections) throws {
    let before = cache
    let small = try collections.cache(.entries(max(1, before.count)))
    try small.set("one more", 1)
    cache = try CollectionContents(of: collections.table).cache
    let others = cache.filter { $0.key != "one more" }
    guard cache["one more"] == 1, cache.count == max(1, before.count), others.allSatisfy({ before[$0.key] == $0.value })
    else { throw Wrong("the cache holds \(cache.count) elements of \(before.count), or another value") }
    if cache[Collections.computed] != nil { return }
    let large = try collections.cache(.entries(cache.count + 1))
    let value = try large.value(forKey: Collections.computed, timeout: .seconds(5)) { Collections.computedValue }
    guard value == Collections.computedValue else { throw Wrong("\(value) was computed") }
    cache[Collections.computed] = value
  }
}

extension Contents {
  init(_ collections: CollectionContents) {
    self.init()
    for (index, element) in collections.array.enumerated() { add("array \(index)", element) }
    for (key, value) in collections.dictionary { add("dictionary \(key)", "\(value)") }
    for element in collections.set { add("set \(element)", "") }
    for (key, value) in collections.cache { add("cache \(key)", "\(value)") }
    add("point", "\(collections.point.x) \(collections.point.y)")
    add("beside", "\(collections.beside)")
  }

  private mutating func add(_ key: String, _ value: String) {
    Array(key.utf8).withUnsafeBytes { key in Array(value.utf8).withUnsafeBytes { add(key, $0) } }
  }
}

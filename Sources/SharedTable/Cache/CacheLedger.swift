import TableEngine

/// A cache's bookkeeping inside one barrier: which elements there are, what they cost, and when they were last used.
///
/// Pages hold lines of some 48 elements each, by the key's hash. A write loads the page of its key, evicts from it,
/// and stores it; what changed is stored by ``store(_:)`` in the barrier that changes the elements, so that the two
/// agree after any death. The rest of the table never matters.
struct CacheLedger {
  let table: Table
  let names: CacheNames
  let hits: RecentHits?
  var head: CacheHead
  var pages: [Int: CachePage] = [:]
  /// The version that this barrier commits as.
  let version: UInt64

  /// Lines a page has on average before another page is added, and below which one is given up.
  static let fullPage: UInt64 = 48
  static let sparsePage: UInt64 = 16

  /// The ledger as the barrier sees it; a new one if there is none.
  /// - Throws: `typeMismatch` if something else has the cache's name; `damaged` if it cannot be right: ``rebuild(_:)`` it.
  init(
    _ table: Table, _ names: CacheNames, _ hits: RecentHits?, _ tx: borrowing Transaction
  ) throws(TableError) {
    self.init(new: table, names, hits)
    if let found = try tx.find(names.head) {
      guard let head = try CacheHead(found, table: table, name: names.head) else { throw damaged("its head") }
      self.head = head
    } else if try tx.contains(names.page(0)) {
      throw damaged("its head, which is missing")
    } else {
      pages[0] = CachePage()
    }
  }

  init(new table: Table, _ names: CacheNames, _ hits: RecentHits?) {
    self.table = table
    self.names = names
    self.hits = hits
    head = CacheHead()
    version = table.segment.committed + 1
  }

  func damaged(_ what: String) -> TableError {
    TableError(
      .damaged, table: table.name,
      "the ledger of the cache '\(String(decoding: names.head, as: UTF8.self))' contradicts itself in \(what); the next "
        + "write to the cache makes it anew")
  }

  func pageIndex(_ hash: UInt64) -> Int { CacheHead.page(hash, of: head.pageCount) }

  mutating func load(_ index: Int, _ tx: borrowing Transaction) throws(TableError) {
    if pages[index] != nil { return }
    guard let found = try tx.find(names.page(index)), var page = unsafe CachePage(found.value) else {
      throw damaged("page \(index)")
    }
    // What this process has read is told on the way; by itself it is no reason to store the page.
    if let hits { page.update(hits) }
    pages[index] = page
  }

  static func used(atCommit version: UInt64) -> UInt64 { version &* 2 }
  static func used(atHit version: UInt64) -> UInt64 { version &* 2 &+ 1 }

  // MARK: - Lines

  /// Enters an element, or what became of one.
  mutating func enter(
    _ hash: UInt64, cost: UInt64, expiry: UInt64, _ tx: inout Transaction
  ) throws(TableError) {
    let index = pageIndex(hash)
    try load(index, tx)
    try removeExpired(page: index, sparing: hash, &tx)
    let new = CachePage.Line(hash: hash, used: Self.used(atCommit: version), cost: cost, expiry: expiry)
    if let line = pages[index]!.line(ofHash: hash) {
      head.cost = head.cost &- pages[index]![line].cost &+ cost
      pages[index]![line] = new
    } else {
      pages[index]!.append(new)
      head.cost = head.cost &+ cost
      head.count &+= 1
      head.insertions &+= 1
    }
    if head.count > UInt64(head.pageCount) * Self.fullPage { try split(tx) }
  }

  /// Strikes an element out, if it is in the ledger.
  mutating func strike(_ hash: UInt64, _ tx: inout Transaction) throws(TableError) {
    let index = pageIndex(hash)
    try load(index, tx)
    guard let line = pages[index]!.line(ofHash: hash) else { return }
    strike(page: index, line: line)
    if head.pageCount > 1, head.count < UInt64(head.pageCount) * Self.sparsePage { try merge(&tx) }
  }

  mutating func strike(page index: Int, line: Int) {
    let removed = pages[index]!.remove(line)
    head.count &-= 1
    head.cost = head.cost &- removed.cost
  }

  /// Removes the elements of a line's key.
  /// - Returns: how many there were: one, none if it was removed behind the cache's back, more only if hashes collide.
  @discardableResult
  func removeElements(_ hash: UInt64, _ tx: inout Transaction) throws(TableError) -> Int {
    var removed = 0
    for key in table.segment.keysInBarrier(hash: hash) where key.starts(with: names.elementPrefix) {
      try tx.remove(key)
      removed += 1
    }
    return removed
  }

  /// A page that is to be stored anyway loses some of what has expired in it.
  private mutating func removeExpired(
    page index: Int, sparing hash: UInt64, _ tx: inout Transaction
  ) throws(TableError) {
    guard pages[index]!.hasExpiries else { return }
    let now = tx.now
    for _ in 0..<8 {
      guard let oldest = pages[index]!.oldest(sparing: hash, now: now), oldest.used == 0 else { return }
      let expired = pages[index]![oldest.line].hash
      strike(page: index, line: oldest.line)
      try removeElements(expired, &tx)
    }
  }

  // MARK: - Pages

  private mutating func split(_ tx: borrowing Transaction) throws(TableError) {
    guard head.pageCount < CacheHead.maximumPageCount else { return }
    let new = head.pageCount
    let old = CacheHead.parent(new)
    try load(old, tx)
    head.pageCount += 1
    let both = pages[old]!
    pages[old] = CachePage()
    pages[new] = CachePage()
    for line in 0..<both.count { pages[pageIndex(both[line].hash)]?.append(both[line]) }
  }

  private mutating func merge(_ tx: inout Transaction) throws(TableError) {
    let last = head.pageCount - 1
    let parent = CacheHead.parent(last)
    try load(last, tx)
    try load(parent, tx)
    let given = pages.removeValue(forKey: last)!
    for line in 0..<given.count { pages[parent]!.append(given[line]) }
    try tx.remove(names.page(last))
    head.pageCount = last
    if head.hand >= last { head.hand = 0 }
  }

  /// Stores what changed.
  func store(_ tx: inout Transaction) throws(TableError) {
    for (index, page) in pages where page.isDirty { try tx.set(words: page.words, forKey: names.page(index)) }
    try tx.set(words: head.words, forKey: names.head)
  }
}

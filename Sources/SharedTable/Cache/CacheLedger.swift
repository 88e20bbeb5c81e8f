import TableEngine

/// A cache's bookkeeping inside one barrier: which elements there are, what they cost, and when they were last used.
///
/// Pages hold lines of some 48 elements each, by the key's hash. A write loads the page of its key, evicts from it,
/// and stores it; what changed is stored by ``store(_:)`` in the barrier that changes the elements, so that the two
/// agree after any death. The rest of the table never matters.
struct CacheLedger {
  let core: CacheCore
  var head: CacheHead
  var pages = CachePages()
  /// The head as it lies in the table; nil if there is none, or none that is to stay.
  private var stored: CacheHead?
  /// The table has none yet.
  var isNew: Bool { stored == nil }
  /// The version that this barrier commits as.
  let version: UInt64

  /// Lines a page has on average before another page is added, and below which one is given up.
  static let fullPage: UInt64 = 48
  static let sparsePage: UInt64 = 16

  /// The ledger as the barrier sees it; a new one if there is none.
  /// - Throws: `typeMismatch` if something else has the cache's name; `damaged` if it cannot be right: ``rebuild(_:costsOf:_:)`` it.
  init(_ core: CacheCore, _ tx: borrowing Transaction) throws(TableError) {
    self.init(new: core)
    if let found = try tx.find(names.headKey) {
      let head = try core.head(found)
      guard head.seed == self.head.seed else { throw damaged("its head, which another table had") }
      self.head = head
      stored = head
    } else if try names.withPage(0, { key throws(TableError) in try tx.contains(key) }) {
      throw damaged("its head, which is missing")
    } else {
      pages.enter(CachePage(), at: 0)
    }
  }

  /// A ledger without pages or elements.
  init(new core: CacheCore) {
    self.core = core
    head = CacheHead(seed: core.table.segment.hashSeed)
    version = core.table.segment.committed + 1
  }

  private var names: CacheKeys { core.names }

  private func damaged(_ what: String) -> TableError { core.damaged(what) }

  func pageIndex(_ hash: UInt64) -> Int { CacheHead.page(hash, of: head.pageCount) }

  mutating func load(_ index: Int, _ tx: borrowing Transaction) throws(TableError) {
    if pages.loaded(index) != nil { return }
    let found = try names.withPage(index) { key throws(TableError) in try tx.find(key) }
    guard let found, let page = unsafe CachePage(found.value) else { throw damaged("page \(index)") }
    pages.enter(page, at: index)
  }

  /// Enters into a loaded page what this process has read: before it is asked what was used longest ago, and where others will be
  /// asked that, since elements are added. By itself no reason to store the page.
  func enterHits(_ index: Int) {
    if let hits = core.hits { pages[index].enter(hits) }
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
    let page = pages[index]
    if let line = page.line(ofHash: hash) {
      head.cost = head.cost &- page[line].cost &+ cost
      page[line] = new
    } else {
      enterHits(index)
      page.append(new)
      head.cost = head.cost &+ cost
      head.count &+= 1
      head.insertions &+= 1
    }
    if head.count > UInt64(head.pageCount) * Self.fullPage { try split(tx) } else { try mergeIfSparse(tx) }
  }

  /// Whether the ledger as it lies in the table says of an element what it is to say after the element was written again, to
  /// stay for ever. Then such a write leaves it as it is: when an element was last written, the element itself says
  /// (``evict(from:sparing:_:)``).
  ///
  /// False also where the ledger is damaged, or more than it may be: whoever loads it finds that out.
  /// - Parameter head: what lies under the head's key.
  @inline(__always)
  static func lists<E: Error>(
    _ hash: UInt64, cost: UInt64, _ core: CacheCore, head: FoundEntry?,
    findPage: (UnsafeRawBufferPointer) throws(E) -> FoundEntry?
  ) throws(E) -> Bool {
    guard let head = head.flatMap(CacheHead.init), !head.exceeds(core.limit),
      head.seed == core.segment.with({ $0.hashSeed })
    else { return false }
    let index = CacheHead.page(hash, of: head.pageCount)
    return try unsafe core.names.pagePrefix.withNumberedKey(index) { key throws(E) in
      guard let page = try unsafe findPage(key) else { return false }
      return unsafe CachePage.lists(page.value, hash, cost: cost)
    }
  }

  /// Strikes an element out, if it is in the ledger.
  mutating func strike(_ hash: UInt64, _ tx: inout Transaction) throws(TableError) {
    let index = pageIndex(hash)
    try load(index, tx)
    guard let line = pages[index].line(ofHash: hash) else { return }
    strike(page: index, line: line)
    try mergeIfSparse(tx)
  }

  /// The caller calls ``mergeIfSparse(_:)`` when it has no more use for a page's index, which that may change.
  mutating func strike(page index: Int, line: Int) {
    let removed = pages[index].remove(line)
    head.count &-= 1
    head.cost = head.cost &- removed.cost
  }

  /// Removes the elements of a line's key.
  /// - Returns: how many there were: one, none if it was removed behind the cache's back, more only if hashes collide.
  @discardableResult
  func removeElements(_ hash: UInt64, _ tx: inout Transaction) throws(TableError) -> Int {
    var removed = 0
    for found in core.table.segment.entriesInBarrier(hash: hash) where isElement(found) {
      try unsafe tx.remove(RawKey(found.key))
      removed += 1
    }
    return removed
  }

  /// The version of the newest of the elements of a line's key, expired ones included; 0 if there is none.
  func lastWrite(_ hash: UInt64) -> UInt64 {
    var last: UInt64 = 0
    for found in core.table.segment.entriesInBarrier(hash: hash) where isElement(found) {
      last = max(last, found.version)
    }
    return last
  }

  private func isElement(_ found: FoundEntry) -> Bool { unsafe found.hasPrefix(names.elementPrefix.bytes) }

  /// A page that is to be stored anyway loses some of what has expired in it.
  private mutating func removeExpired(
    page index: Int, sparing hash: UInt64, _ tx: inout Transaction
  ) throws(TableError) {
    guard pages[index].hasExpiries else { return }
    let now = tx.now
    for _ in 0..<8 {
      guard let oldest = pages[index].oldest(sparing: hash, now: now), oldest.used == 0 else { return }
      let expired = pages[index][oldest.line].hash
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
    let both = pages[old]
    pages.enter(CachePage(), at: old)
    pages.enter(CachePage(), at: new)
    for line in 0..<both.count {
      pages.loaded(pageIndex(both[line].hash))?.append(both[line])
    }
  }

  /// Gives up the last page if the pages have few lines: one page at a time, as they come.
  mutating func mergeIfSparse(_ tx: borrowing Transaction) throws(TableError) {
    if head.pageCount > 1, head.count < UInt64(head.pageCount) * Self.sparsePage { try merge(tx) }
  }

  private mutating func merge(_ tx: borrowing Transaction) throws(TableError) {
    let last = head.pageCount - 1
    let parent = CacheHead.parent(last)
    try load(last, tx)
    try load(parent, tx)
    let given = pages[last]
    pages.remove(last)
    for line in 0..<given.count { pages[parent].append(given[line]) }
    head.pageCount = last
    if head.hand >= last { head.hand = 0 }
  }

  /// Stores what changed, and removes the pages that were given up: not before, for who evicts may leave the ledger as it is.
  func store(_ tx: inout Transaction) throws(TableError) {
    try pages.forEach { index, page throws(TableError) in
      guard page.isDirty else { return }
      try names.withPage(index) { key throws(TableError) in
        try unsafe page.withBytes { bytes throws(TableError) in try unsafe tx.set(key, bytes: bytes, type: .bytes) }
      }
    }
    if head == stored { return }
    if let stored, stored.pageCount > head.pageCount {
      for index in head.pageCount..<stored.pageCount {
        _ = try names.withPage(index) { key throws(TableError) in try tx.remove(key) }
      }
    }
    try unsafe head.withBytes { bytes throws(TableError) in
      try unsafe tx.store(names.head.bytes, bytes, CacheHead.form, .never)
    }
  }
}

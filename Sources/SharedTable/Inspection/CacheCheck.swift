import TableEngine

extension ReadView {
  /// Checks a cache's ledger against its elements: what is wrong, one sentence each.
  /// - Parameter reportsLinesWithoutElement: for tests that have left none. A cache leaves such lines where it evicts from a table that
  ///   has no room for the ledger's pages, and evicts them first.
  package func cacheProblems(_ name: String, reportsLinesWithoutElement: Bool = false) throws -> [String] {
    try CacheCheck.problems(ofCache: name, reportsLinesWithoutElement, self)
  }

  /// Whether an element of a cache of this name has one of these hashes. Another program's keys may look like a cache's.
  func holdsElement(of name: String, _ hashes: Set<UInt64>) throws -> Bool {
    guard let names = try? CacheKeys(name, table: table) else { return false }
    return try !CacheCheck.elements(names, self).isDisjoint(with: hashes)
  }
}

/// Caches: each element has a line, on the page that its key says, and the head's sums are those of the lines.
private struct CacheCheck {
  private let names: CacheKeys
  private let head: CacheHead
  /// The hashes of the elements' keys.
  private let elements: Set<UInt64>
  private let reportsLinesWithoutElement: Bool
  /// The hashes that the lines name which were looked at.
  private var listed: Set<UInt64> = []
  /// How many of these lines name a key that a line before them names, and how many a key without an element.
  private var (repeated, elementless) = (0, 0)
  private var misplaced = FirstProblems()
  /// What these lines cost.
  private var cost: UInt64 = 0
  private var count: UInt64 = 0
  private var problems: [String] = []

  private init(_ names: CacheKeys, _ head: CacheHead, _ elements: Set<UInt64>, _ reportsLinesWithoutElement: Bool) {
    self.names = names
    self.head = head
    self.elements = elements
    self.reportsLinesWithoutElement = reportsLinesWithoutElement
  }

  static func problems(
    ofCache name: String, _ reportsLinesWithoutElement: Bool, _ view: borrowing ReadView
  ) throws -> [String] {
    let names = try CacheKeys(name, table: view.table)
    let elements = try elements(names, view)
    guard let found = try view.find(names.headKey) else { return elements.isEmpty ? [] : ["elements without a head"] }
    guard let head = CacheHead(found) else { return ["the head cannot be right"] }
    // It is another table's, or an earlier release's: the next write makes it anew.
    if head.seed != view.table.segment.hashSeed { return [] }
    var check = CacheCheck(names, head, elements, reportsLinesWithoutElement)
    if try check.lookAtPages(view) { try check.compareSums(view) }
    return check.problems + check.misplaced.all + counted("two lines of one key", check.repeated)
      + counted("a line without its element", check.elementless)
  }

  private static func counted(_ sentence: String, _ times: Int) -> [String] {
    times == 0 ? [] : [times == 1 ? sentence : "\(sentence) (\(times) times)"]
  }

  static func elements(_ names: CacheKeys, _ view: borrowing ReadView) throws -> Set<UInt64> {
    let segment = view.table.segment
    var elements: Set<UInt64> = []
    try view.forEach(prefix: names.elementPrefix.array) { key, _ in
      elements.insert(unsafe key.withUnsafeBytes { unsafe segment.hash($0) })
    }
    return elements
  }

  /// - Returns: false if so many pages are wrong that the others were not looked at.
  private mutating func lookAtPages(_ view: borrowing ReadView) throws -> Bool {
    let now = view.now
    var missing = 0
    for index in 0..<head.pageCount {
      let found = try names.withPage(index) { key throws(TableError) in try view.find(key) }
      if let found, let page = unsafe CachePage(found.value) {
        look(at: page, index, now)
        continue
      }
      problems.append("page \(index) is missing or cannot be right")
      missing += 1
      let others = head.pageCount - 1 - index
      guard missing == 8, others > 0 else { continue }
      // The head's number of pages may be a stranger's, and then anything.
      problems.append("so many pages are wrong that the other \(others) were not looked at")
      return false
    }
    return true
  }

  private mutating func look(at page: CachePage, _ index: Int, _ now: UInt64) {
    var strangers = 0
    for number in 0..<page.count {
      let line = page[number]
      if CacheHead.page(line.hash, of: head.pageCount) != index { strangers += 1 }
      if !listed.insert(line.hash).inserted { repeated += 1 }
      if reportsLinesWithoutElement, !elements.contains(line.hash), !line.hasExpired(at: now) { elementless += 1 }
      cost = cost &+ line.cost
      count += 1
    }
    for sentence in Self.counted("a line of another page is on page \(index)", strangers) { misplaced.add(sentence) }
  }

  private mutating func compareSums(_ view: borrowing ReadView) throws {
    let isPageTooMany = try names.withPage(head.pageCount) { key throws(TableError) in try view.contains(key) }
    if isPageTooMany { problems.append("a page too many") }
    if !elements.isSubset(of: listed) { problems.append("an element without its line") }
    if count != head.count { problems.append("the head counts \(head.count) of \(count) lines") }
    if cost != head.cost { problems.append("the head says the cost is \(head.cost), not \(cost)") }
  }
}

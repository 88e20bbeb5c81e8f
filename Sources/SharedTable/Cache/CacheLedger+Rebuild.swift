import TableEngine

extension CacheLedger {
  /// Makes the ledger anew from the elements that there are: for one that contradicts itself, or that came from another table.
  ///
  /// Looks at the whole table. Costs that writes named are forgotten for the size in bytes, unless the ledger is only another table's; what was
  /// last used, for what was last written. What has expired counts no more: it is invisible, and goes when its key is written again or
  /// whoever keeps the table sweeps.
  /// - Parameter other: what another table's ledger said of costs, if its pages may be gone by now.
  static func rebuild(
    _ core: CacheCore, costsOf other: OtherLedger? = nil, _ tx: inout Transaction
  ) throws(TableError) -> CacheLedger {
    let names = core.names
    var ledger = CacheLedger(new: core)
    // Old pages may be anything; an epoch beyond any that a claim can name ends what is being computed.
    ledger.head.epoch = ledger.version
    let costs: OtherLedger?
    if let other { costs = other } else { costs = try OtherLedger(core, tx) }
    for key in try tx.keys(prefix: names.pagePrefix.array) { try tx.remove(key) }
    try removeClaimsOfTheDead(core, &tx)
    var lines: [CachePage.Line] = []
    try tx.scan(names.elementPrefix.array) { found in
      let size = UInt64(unsafe found.key.count - names.elementPrefix.count + found.value.count)
      lines.append(
        CachePage.Line(
          hash: unsafe core.table.segment.hash(found.key), used: used(atCommit: found.version),
          cost: unsafe costs?.cost(ofKey: found.key) ?? size, expiry: found.expiry))
      return true
    }
    ledger.head.pageCount = max(1, min(CacheHead.maximumPageCount, lines.count / Int(fullPage) + 1))
    for index in 0..<ledger.head.pageCount { ledger.pages.enter(CachePage(), at: index) }
    for line in lines {
      ledger.pages[ledger.pageIndex(line.hash)].append(line)
      ledger.head.count &+= 1
      ledger.head.cost = ledger.head.cost &+ line.cost
    }
    return ledger
  }

  /// Removes the claims of processes that have died while they computed. Another process takes such a claim over when it asks for the same key;
  /// the others would stay.
  private static func removeClaimsOfTheDead(_ core: CacheCore, _ tx: inout Transaction) throws(TableError) {
    for key in try tx.keys(prefix: core.names.claimPrefix.array) {
      if let claim = try tx.claim(key), try claim.isLive(core.table) { continue }
      try tx.remove(key)
    }
  }
}

extension ReadView {
  /// Checks a cache's ledger against its elements: what is wrong, one sentence each.
  /// - Parameter reportsLinesWithoutElement: for tests that have left none. A cache leaves such lines where it evicts from a table that
  ///   has no room for the ledger's pages, and evicts them first.
  package func cacheProblems(_ name: String, reportsLinesWithoutElement: Bool = true) throws -> [String] {
    let names = try CacheKeys(name, table: table)
    var elements: Set<UInt64> = []
    try forEach(prefix: names.elementPrefix.array) { key, _ in
      elements.insert(unsafe key.withUnsafeBytes { unsafe table.segment.hash($0) })
    }
    guard let found = try find(names.headKey) else { return elements.isEmpty ? [] : ["elements without a head"] }
    guard let head = CacheHead(found) else { return ["the head cannot be right"] }
    // It is another table's, or an earlier release's: the next write makes it anew.
    if head.seed != table.segment.hashSeed { return [] }
    var problems: [String] = []
    var known: Set<UInt64> = []
    var cost: UInt64 = 0
    var count: UInt64 = 0
    var missing = 0
    for index in 0..<head.pageCount {
      let found = try names.withPage(index) { key throws(TableError) in try find(key) }
      guard let found, let page = unsafe CachePage(found.value) else {
        problems.append("page \(index) is missing or cannot be right")
        missing += 1
        let others = head.pageCount - 1 - index
        guard missing == 8, others > 0 else { continue }
        // The head's number of pages may be a stranger's, and then anything.
        return problems + ["so many pages are wrong that the other \(others) were not looked at"]
      }
      for line in (0..<page.count).map({ page[$0] }) {
        if CacheHead.page(line.hash, of: head.pageCount) != index { problems.append("a line is on page \(index)") }
        if !known.insert(line.hash).inserted { problems.append("two lines of one key") }
        if reportsLinesWithoutElement, !elements.contains(line.hash), !line.hasExpired(at: now) {
          problems.append("a line without its element")
        }
        cost = cost &+ line.cost
        count += 1
      }
    }
    let isPageTooMany = try names.withPage(head.pageCount) { key throws(TableError) in try contains(key) }
    if isPageTooMany { problems.append("a page too many") }
    if !elements.isSubset(of: known) { problems.append("an element without its line") }
    if count != head.count { problems.append("the head counts \(head.count) of \(count) lines") }
    if cost != head.cost { problems.append("the head says the cost is \(head.cost), not \(cost)") }
    return problems
  }
}

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

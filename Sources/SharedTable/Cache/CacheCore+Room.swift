/// Barriers of a cache: with its ledger, healing it where it is damaged, and evicting where the table is full.
extension CacheCore {
  /// Runs `body` with the ledger, which is stored with what it changed.
  func change<R>(
    bytes: Int, timeout: Duration?,
    _ body: (inout Transaction, inout CacheLedger) throws(TableError) -> R
  ) throws(TableError) -> R {
    try withRoom(bytes: bytes, timeout: timeout) { tx throws(TableError) in try withLedger(&tx, body) }
  }

  /// Runs `body` with the ledger as the barrier sees it, and stores what it changed.
  @inline(__always)
  func withLedger<R>(
    _ tx: inout Transaction, _ body: (inout Transaction, inout CacheLedger) throws(TableError) -> R
  ) throws(TableError) -> R {
    var ledger = try CacheLedger(self, tx)
    let result = try body(&tx, &ledger)
    try ledger.store(&tx)
    return result
  }

  /// Runs `body` in a barrier; if the table is full, evicts, twice as much each time, and tries again, until no element is left; if the
  /// ledger contradicts itself, makes it anew and tries again.
  /// - Parameters:
  ///   - bytes: how long the value is that is to be stored.
  ///   - hash: of the key whose element stays, since `body` is to find it.
  @inline(__always)
  func withRoom<R>(
    bytes: Int, sparing hash: UInt64? = nil, timeout: Duration?, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    do throws(TableError) {
      return try names.withBarrier(of: table, timeout: timeout, body)
    } catch {
      return try tryAgain(after: error, evictingFor: bytes, sparing: hash, timeout, body)
    }
  }

  /// Runs `body` in a barrier; if the ledger contradicts itself, makes it anew and tries again, once. Evicts only where the ledger that is made anew
  /// is above the limit, or has no room.
  /// - Parameter hash: of the key whose element stays.
  @inline(__always)
  func withSoundLedger<R>(
    sparing hash: UInt64? = nil, _ timeout: Duration?, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    do throws(TableError) {
      return try names.withBarrier(of: table, timeout: timeout, body)
    } catch {
      return try tryAgain(after: error, evictingFor: nil, sparing: hash, timeout, body)
    }
  }

  /// What helps a barrier of this cache's that has failed.
  private enum Remedy {
    case newLedger
    case eviction
  }

  /// - Parameter wasRebuilt: the ledger was made anew for the attempt that has failed.
  /// - Parameter wasEmptied: that attempt came after an eviction that has seen the cache empty.
  /// - Parameter bytes: how long the value is that is to be stored; nil: nothing is to be evicted.
  /// - Throws: `error` if nothing helps.
  private func remedy(
    for error: TableError, ledgerWasRebuilt wasRebuilt: Bool, cacheWasEmptied wasEmptied: Bool, evictingFor bytes: Int?
  ) throws(TableError) -> Remedy {
    if error.code == .damaged, !wasRebuilt { return .newLedger }
    // What a reader keeps, nobody's leaving gives back.
    guard let bytes, error.mayFitAfterReclaiming, !wasEmptied, bytes <= table.maximumValueLength else { throw error }
    return .eviction
  }

  /// Runs `body` in further barriers after the first has failed, until one succeeds or nothing helps.
  ///
  /// Other processes may store elements between two of these barriers. So the last attempt is the one after an eviction that has seen the cache
  /// empty: to go on until an eviction finds no element took as long as others went on storing, and evicted what they stored.
  /// - Parameters:
  ///   - bytes: how long the value is that is to be stored; nil: nothing is to be evicted.
  ///   - hash: of the key whose element stays.
  @inline(never)
  func tryAgain<R>(
    after first: TableError, evictingFor bytes: Int?, sparing hash: UInt64? = nil, _ timeout: Duration?,
    _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    var failure = first
    var (wasRebuilt, wasEmptied) = (false, false)
    var wanted = 16
    while true {
      switch try remedy(
        for: failure, ledgerWasRebuilt: wasRebuilt, cacheWasEmptied: wasEmptied, evictingFor: bytes)
      {
      case .newLedger:
        wasRebuilt = true
        do throws(TableError) { try makeLedgerAnew(sparing: hash, timeout) } catch {
          failure = error
          continue
        }
      case .eviction:
        wasEmptied = try evictSome(wanted, sparing: hash, timeout: timeout) < wanted
        wasRebuilt = false
        wanted = min(wanted * 2, 4096)
      }
      do throws(TableError) {
        return try names.withBarrier(of: table, timeout: timeout, body)
      } catch {
        failure = error
      }
    }
  }

  /// - Parameter hash: of the key whose element stays.
  private func makeLedgerAnew(sparing hash: UInt64?, _ timeout: Duration?) throws(TableError) {
    do throws(TableError) {
      try names.withBarrier(of: table, timeout: timeout) { tx throws(TableError) in
        var ledger = try CacheLedger.rebuild(self, &tx)
        try ledger.makeRoomOnceMadeAnew(limit, sparing: hash, &tx)
        try ledger.store(&tx)
      }
    } catch {
      guard error.mayFitAfterReclaiming else { throw error }
      try rebuildLedgerInFullTable(sparing: hash, timeout)
    }
  }

  /// For a table that has no room for a second ledger beside the first one, or for what is evicted until the barrier ends: elements may count far
  /// more than when they were stored. Gives up the first one's pages, and then elements, up to a thousand a barrier, until the ledger fits. If it
  /// is above its limit then, the next writes make room, in portions that fit.
  private func rebuildLedgerInFullTable(sparing hash: UInt64?, _ timeout: Duration?) throws(TableError) {
    // Before its pages go. If this process dies then, whoever makes the ledger anew takes the elements' sizes for their costs.
    let other = try names.withBarrier(of: table, timeout: timeout) { tx throws(TableError) in try OtherLedger(self, tx)
    }
    var count = 256
    while true {
      do throws(TableError) {
        return try names.withBarrier(of: table, timeout: timeout) { tx throws(TableError) in
          let ledger = try CacheLedger.rebuild(self, costsOf: other, &tx)
          try ledger.store(&tx)
        }
      } catch {
        guard error.mayFitAfterReclaiming, try removePagesOrElements(count, sparing: hash, timeout) > 0
        else { throw error }
        count = min(count * 2, 1024)
      }
    }
  }

  /// - Returns: how many.
  private func removePagesOrElements(
    _ count: Int, sparing hash: UInt64?, _ timeout: Duration?
  ) throws(TableError) -> Int {
    try names.withBarrier(of: table, timeout: timeout) { tx throws(TableError) in
      var keys = try tx.keys(prefix: names.pagePrefix.array)
      if keys.isEmpty {
        keys = try tx.keys(prefix: names.elementPrefix.array).filter { key in
          unsafe key.withUnsafeBytes { key in unsafe table.segment.hash(key) } != hash
        }
      }
      for key in keys.prefix(count) { try tx.remove(key) }
      return min(count, keys.count)
    }
  }

  /// Evicts some elements. In a table that has no room in one barrier for all pages of the ledger that this changes, up to
  /// ``mostInSmallBarriers`` go in several barriers, which become smaller until they fit.
  /// - Parameter hash: of the key whose element stays: a cache with no other counts as empty.
  /// - Returns: how many it removed; fewer than asked for only if one of its barriers has seen the cache empty.
  func evictSome(_ count: Int, sparing hash: UInt64? = nil, timeout: Duration?) throws(TableError) -> Int {
    guard count <= Self.mostInSmallBarriers else {
      return try evictAtOnce(count, sparing: hash, counting: true, timeout: timeout)
    }
    var removed = 0
    var lines = count
    while removed < count {
      do throws(TableError) {
        let evicted = try evict(lines: min(lines, count - removed), sparing: hash, timeout)
        removed += evicted.elements
        if evicted.sawEmpty { return removed }
      } catch {
        guard error.mayFitAfterReclaiming else { throw error }
        guard lines > 1 else {
          return try removed
            + evict(elements: count - removed, sparing: hash, timeout, keepingLedger: false).elements
        }
        lines = (lines + 3) / 4
      }
    }
    return removed
  }

  /// To evict more in small barriers would take long. Beside processes that store all the time these would never see the cache empty, and a write
  /// that finds no room would evict what others store for ever.
  private static let mostInSmallBarriers = 256

  /// Evicts so many elements in a barrier of its own.
  ///
  /// A table too full for the ledger's new pages can still delete: then the ledger keeps lines without elements, which
  /// count until they are evicted themselves, first of all, since nobody uses them.
  /// - Parameter counting: they count as evicted.
  /// - Returns: how many it removed; fewer than asked for only if its barrier has seen the cache empty.
  func evictAtOnce(
    _ count: Int, sparing hash: UInt64? = nil, counting: Bool, timeout: Duration?
  ) throws(TableError) -> Int {
    do throws(TableError) {
      return try evict(elements: count, sparing: hash, timeout, counting: counting).elements
    } catch {
      guard error.mayFitAfterReclaiming else { throw error }
      return try evict(elements: count, sparing: hash, timeout, counting: counting, keepingLedger: false).elements
    }
  }

  /// Evicts in a barrier of its own, until so many elements or lines have gone, or the cache is empty: the elements of some lines may have gone
  /// before.
  private func evict(
    elements: Int = .max, lines: Int = .max, sparing hash: UInt64?, _ timeout: Duration?, counting: Bool = true,
    keepingLedger: Bool = true
  ) throws(TableError) -> (elements: Int, sawEmpty: Bool) {
    try withSoundLedger(sparing: hash, timeout) { tx throws(TableError) in
      var ledger = try CacheLedger(self, tx)
      let evictions = ledger.head.evictions
      var (removed, struck) = (0, 0)
      while removed < elements, struck < lines, try ledger.hasVictim(sparing: hash, tx) {
        removed += try ledger.evict(from: .hand, sparing: hash, &tx)
        struck += 1
      }
      if !counting { ledger.head.evictions = evictions }
      if keepingLedger { try ledger.store(&tx) }
      return (removed, try !ledger.hasVictim(sparing: hash, tx))
    }
  }
}

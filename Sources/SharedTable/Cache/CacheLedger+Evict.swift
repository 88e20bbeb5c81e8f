/// Which element has to go.
///
/// Least recently used, by sample: of the elements on the page of the key that came, some 25 to 100 chosen by their keys'
/// hashes, what has expired, else what was used longest ago. (K. Psounis, B. Prabhakar, "A randomized web-cache
/// replacement scheme", INFOCOM 2001: from a handful of samples on, little is left to gain.)
///
/// A line may not know of its element's last writes, which did not store it. So the element is looked at before it goes: its
/// version is that of its last write. Where the line said less it is told, and the choice made again.
extension CacheLedger {
  /// Of elements that were too many before it, how many a barrier evicts at most: all writers of the table wait for it.
  static let evictionsOfEarlierExcess = 4096

  /// Evicts until the cache is within its limit. If it was above that before, because the limit is lower than an earlier one, it is no more above it
  /// than before, and the next writes go on.
  /// - Parameter before: the head before the elements came for which there has to be room.
  mutating func makeRoom(
    _ limit: CacheLimit, above before: CacheHead, sparing hash: UInt64?, _ tx: inout Transaction
  ) throws(TableError) {
    let amountBefore = before.amount(boundedBy: limit)
    var left = Self.evictionsOfEarlierExcess
    while head.exceeds(limit), left > 0 || head.amount(boundedBy: limit) > amountBefore {
      try evict(from: .keysPage, sparing: hash, &tx)
      left -= 1
    }
  }

  /// As ``makeRoom(_:above:sparing:_:)``, for a ledger that was made anew. Also ends when no element is left but the one that stays: that one may
  /// cost more than a limit that is lower than the one it was stored under.
  mutating func makeRoomOnceMadeAnew(
    _ limit: CacheLimit, sparing hash: UInt64?, _ tx: inout Transaction
  ) throws(TableError) {
    var left = Self.evictionsOfEarlierExcess
    while head.exceeds(limit), left > 0, try hasVictim(sparing: hash, tx) {
      try evict(from: .hand, sparing: hash, &tx)
      left -= 1
    }
  }

  /// Whether there is an element besides the one that stays.
  /// - Parameter hash: of that one's key.
  mutating func hasVictim(sparing hash: UInt64?, _ tx: borrowing Transaction) throws(TableError) -> Bool {
    guard head.count == 1, let hash else { return head.count > 0 }
    let index = pageIndex(hash)
    try load(index, tx)
    return pages[index].line(ofHash: hash) == nil
  }

  /// Which page is looked at first.
  enum Sample {
    /// That of the key that came.
    case keysPage
    /// One after the other: many evictions for one key would leave its page with hardly an element.
    case hand
  }

  /// Evicts one element.
  /// - Parameter hash: of the key whose element stays.
  /// - Returns: how many keys that removed from the table.
  @discardableResult
  mutating func evict(
    from sample: Sample, sparing hash: UInt64?, _ tx: inout Transaction
  ) throws(TableError) -> Int {
    for _ in 0..<head.pageCount {
      let home = sample == .keysPage ? hash.map { pageIndex($0) } ?? head.hand : head.hand
      try load(home, tx)
      enterHits(home)
      var (page, victim) = (home, oldest(home, sparing: hash, tx))
      // A page with few lines is a poor sample.
      if pages[home].count < Self.fairSample, head.hand != home {
        try load(head.hand, tx)
        enterHits(head.hand)
        if let other = oldest(head.hand, sparing: hash, tx), victim.map({ other.used < $0.used }) ?? true {
          (page, victim) = (head.hand, other)
        }
      }
      head.hand = head.hand + 1 < head.pageCount ? head.hand + 1 : 0
      guard let victim else { continue }
      let evicted = pages[page][victim.line].hash
      strike(page: page, line: victim.line)
      head.evictions &+= 1
      try mergeIfSparse(tx)
      return try removeElements(evicted, &tx)
    }
    throw core.damaged("its sums")
  }

  private static let fairSample = 24

  /// The line of a loaded page whose element was used longest ago, by the line and by the element.
  private func oldest(
    _ index: Int, sparing hash: UInt64?, _ tx: borrowing Transaction
  ) -> (line: Int, used: UInt64)? {
    let page = pages[index]
    let now = page.hasExpiries ? tx.now : 0
    while let oldest = page.oldest(sparing: hash, now: now) {
      // What has expired goes, whenever it was written.
      if oldest.used == 0 { return oldest }
      let written = lastWrite(page[oldest.line].hash)
      guard page.enter(use: Self.used(atCommit: written), line: oldest.line) else { return oldest }
    }
    return nil
  }

  /// Tells the pages of some keys what this process has read, so that others' evictions know.
  mutating func tellHits(of hashes: some Sequence<UInt64>, _ tx: borrowing Transaction) throws(TableError) {
    for hash in hashes {
      let index = pageIndex(hash)
      try load(index, tx)
      enterHits(index)
      if pages[index].hasNews { pages[index].isDirty = true }
    }
  }
}

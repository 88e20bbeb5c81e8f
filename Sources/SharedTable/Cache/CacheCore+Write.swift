import TableEngine

extension CacheCore {
  /// Stores a value under a key in the table.
  /// - Returns: whether the condition held and the value was stored.
  func store(
    _ key: [UInt8], _ value: some TableValue, cost: Int?, expires: Expiration, if condition: Table.Condition,
    timeout: Duration?
  ) throws(TableError) -> Bool {
    try unsafe withEncoded(key, value, cost, expires) { write throws(TableError) in
      try unsafe storeInOwnBarrier(write, if: condition, timeout: timeout)
    }
  }

  /// Stores a computed value under a key in the table, if its claim still stands.
  /// - Returns: whether it was stored.
  func store(
    _ key: [UInt8], _ value: some TableValue, cost: Int?, expires: Expiration, claim: ClaimRecord
  ) throws(TableError) -> Bool {
    try unsafe withEncoded(key, value, cost, expires) { write throws(TableError) in
      try unsafe storeInOwnBarrier(write, claim: claim)
    }
  }

  private func withEncoded<Value: TableValue, R>(
    _ key: [UInt8], _ value: Value, _ cost: Int?, _ expires: Expiration,
    _ body: (CacheWrite) throws(TableError) -> R
  ) throws(TableError) -> R {
    try unsafe key.withKeyBytes { key throws(TableError) in
      try unsafe value.withTableBytes { bytes throws(TableError) in
        try unsafe body(
          CacheWrite(key: key, bytes: bytes, form: StoredForm(of: Value.self), cost: cost, expires: expires))
      }
    }
  }

  /// Stores an element if the condition holds, and evicts in the same barrier what it pushes out.
  /// - Returns: whether it did.
  @usableFromInline
  func storeInOwnBarrier(
    _ write: CacheWrite, if condition: Table.Condition, timeout: Duration?
  ) throws(TableError) -> Bool {
    let cost = try unsafe checkedCost(write)
    guard case .always = condition, case .never = unsafe write.expires else {
      return try unsafe storeInGeneralBarrier(write, cost, if: condition, timeout)
    }
    return try unsafe storeInDirectBarrier(write, cost, timeout)
  }

  @inline(never)
  private func storeInGeneralBarrier(
    _ write: CacheWrite, _ cost: UInt64, if condition: Table.Condition, _ timeout: Duration?
  ) throws(TableError) -> Bool {
    let hash = unsafe table.segment.hash(write.key)
    // What the condition is about stays, or the write would not happen for want of room.
    let spared: UInt64? =
      switch condition {
      case .present, .version: hash
      case .always, .absent: nil
      }
    return try withRoom(bytes: unsafe write.bytes.count, sparing: spared, timeout: timeout) { tx throws(TableError) in
      try unsafe store(write, hash: hash, cost: cost, if: condition, in: &tx)
    }
  }

  /// Stores an element that stays for ever, whatever is there. Mostly there is one, which costs as much and nobody computes: then
  /// it alone is stored.
  ///
  /// No look for a claim on the key, which this write would have to end: who computes has found no element, and each write of the
  /// cache that adds one removes the claim in its barrier. If something else has stored the element meanwhile, whoever computes
  /// finds that one, and stores nothing (``storeInOwnBarrier(_:claim:)``).
  @inline(__always)
  private func storeInDirectBarrier(
    _ write: CacheWrite, _ cost: UInt64, _ timeout: Duration?
  ) throws(TableError) -> Bool {
    // Before the barrier, which others wait for.
    let hash = segment.with { unsafe $0.hash(write.key) }
    let core = unsafe UncountedReference(self)
    do throws(TableError) {
      return try names.withDirectBarrier(of: table, timeout) { barrier throws(TableError) -> Bool? in
        guard lists(hash, cost: cost, barrier),
          try unsafe table.replace(write.key, hash: hash, write.bytes, write.form, committing: barrier)
        else { return nil }
        return true
      } generally: { tx throws(TableError) in
        try core.with { core throws(TableError) in
          try unsafe core.store(write, hash: hash, cost: cost, if: .always, in: &tx)
        }
      }
    } catch {
      return try tryAgain(after: error, evictingFor: unsafe write.bytes.count, timeout) { tx throws(TableError) in
        try unsafe store(write, hash: hash, cost: cost, if: .always, in: &tx)
      }
    }
  }

  /// See ``CacheLedger/lists(_:cost:_:head:findPage:)``.
  @inline(__always)
  private func lists(_ hash: UInt64, cost: UInt64, _ barrier: DirectBarrier) -> Bool {
    unsafe CacheLedger.lists(hash, cost: cost, self, head: barrier.root) { key in
      unsafe table.find(key, hash: segment.with { unsafe $0.hash(key) }, in: barrier)
    }
  }

  private func lists(_ hash: UInt64, cost: UInt64, _ tx: borrowing Transaction) throws(TableError) -> Bool {
    try unsafe CacheLedger.lists(hash, cost: cost, self, head: tx.find(names.headKey)) { key throws(TableError) in
      try tx.find(unsafe RawKey(key))
    }
  }

  /// Stores an element as a part of a barrier, if the condition holds.
  /// - Returns: whether it did.
  @inline(never)
  private func store(
    _ write: CacheWrite, hash: UInt64, cost: UInt64, if condition: Table.Condition, in tx: inout Transaction
  ) throws(TableError) -> Bool {
    let holds = if case .always = condition { true } else { try tx.holds(condition, unsafe RawKey(write.key)) }
    guard holds else {
      // Throws as the write would, and has a ledger healed that contradicts itself.
      _ = try CacheLedger(self, tx)
      return false
    }
    // A value that is being computed was asked for before this one was there.
    let claim = unsafe names.claim(ofElement: write.key)
    if try tx.contains(claim) { try tx.remove(claim) }
    if case .never = unsafe write.expires, try lists(hash, cost: cost, tx) {
      try unsafe tx.store(write.key, write.bytes, write.form, .never)
    } else {
      try unsafe storeUnlisted(write, hash: hash, cost: cost, in: &tx)
    }
    return true
  }

  /// Stores an element that the ledger does not list as it is to be.
  private func storeUnlisted(
    _ write: CacheWrite, hash: UInt64, cost: UInt64, in tx: inout Transaction
  ) throws(TableError) {
    try withLedger(&tx) { tx, ledger throws(TableError) in
      try unsafe storeAndList(write, hash: hash, cost: cost, in: &tx, &ledger)
    }
  }

  /// Stores a computed element if its claim still stands: else it was removed, or another was stored, since. Nor if there is an
  /// element, which something else than the cache has stored since: it is the newer one.
  /// - Returns: whether it was stored.
  private func storeInOwnBarrier(_ write: CacheWrite, claim: ClaimRecord) throws(TableError) -> Bool {
    let hash = unsafe table.segment.hash(write.key)
    let cost = try unsafe checkedCost(write)
    let claimKey = unsafe names.claim(ofElement: write.key)
    return try change(bytes: unsafe write.bytes.count, timeout: nil) { tx, ledger throws(TableError) in
      guard try tx.releaseClaim(claimKey, claim), claim.epoch == ledger.head.epoch,
        try !tx.contains(unsafe RawKey(write.key))
      else { return false }
      try unsafe storeAndList(write, hash: hash, cost: cost, in: &tx, &ledger)
      return true
    }
  }

  /// Lists an element in the ledger, evicts what it pushes out, and stores it.
  private func storeAndList(
    _ write: CacheWrite, hash: UInt64, cost: UInt64, in tx: inout Transaction, _ ledger: inout CacheLedger
  ) throws(TableError) {
    let expiry = unsafe write.expires.nanoseconds(now: tx.now)
    let before = ledger.head
    try ledger.enter(hash, cost: cost, expiry: expiry, &tx)
    try ledger.makeRoom(limit, above: before, sparing: hash, &tx)
    try unsafe tx.store(write.key, write.bytes, write.form, Expiration(stored: expiry))
  }

  @inline(__always)
  private func checkedCost(_ write: CacheWrite) throws(TableError) -> UInt64 {
    let own = unsafe write.key.count - names.elementPrefix.count + write.bytes.count
    let cost = UInt64(max(0, unsafe write.cost ?? own))
    if case .bytes = limit, cost > limit.maximum { throw tooLarge(cost) }
    return cost
  }

  @inline(never)
  private func tooLarge(_ cost: UInt64) -> TableError {
    TableError(
      .tooLarge, table: table.name,
      "the element costs \(cost), and all of the cache '\(name)' may cost \(limit.maximum); give it a higher limit")
  }

  /// - Returns: whether the element was there.
  @usableFromInline
  func remove(_ key: UnsafeRawBufferPointer, timeout: Duration?) throws(TableError) -> Bool {
    let hash = unsafe table.segment.hash(key)
    let claimKey = unsafe names.claim(ofElement: key)
    // Evicted for want of room, it would not have been there.
    return try withRoom(bytes: 0, sparing: hash, timeout: timeout) { tx throws(TableError) in
      var ledger = try CacheLedger(self, tx)
      // Whoever computes it now may have seen what made it invalid, or not.
      try tx.remove(claimKey)
      try ledger.strike(hash, &tx)
      // Of a cache that was never written nothing is to be noted: a full table could not take it.
      if !ledger.isNew { try ledger.store(&tx) }
      return try tx.remove(unsafe RawKey(key))
    }
  }

  /// How many elements each barrier removes where one barrier cannot empty the cache.
  private static let removedAtOnce = 256

  func removeAll(timeout: Duration?) throws(TableError) {
    do throws(TableError) {
      try removeAllAtOnce(timeout)
    } catch {
      guard error.mayFitAfterReclaiming else { throw error }
      // More than one barrier takes: in several, each of them whole. One that removes fewer has seen the cache empty. Others may store
      // elements between two of these barriers: to go on until one removes none ended only if they stored nothing for a moment.
      while try evictAtOnce(Self.removedAtOnce, counting: false, timeout: timeout) >= Self.removedAtOnce {}
      try removeAllAtOnce(timeout)
    }
  }

  /// Empties the cache in one barrier.
  func removeAllAtOnce(_ timeout: Duration?) throws(TableError) {
    try withSoundLedger(timeout) { tx throws(TableError) in
      try withLedger(&tx) { tx, ledger throws(TableError) in
        for index in 0..<ledger.head.pageCount {
          try ledger.load(index, tx)
          let page = ledger.pages[index]
          for line in 0..<page.count { try ledger.removeElements(page[line].hash, &tx) }
        }
        var head = CacheHead(seed: ledger.head.seed)
        head.insertions = ledger.head.insertions
        head.evictions = ledger.head.evictions
        head.epoch = ledger.version
        ledger.head = head
        ledger.pages = CachePages()
        ledger.pages.enter(CachePage(), at: 0)
      }
    }
  }
}

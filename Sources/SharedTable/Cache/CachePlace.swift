/// One key of a cache, as a place whose value is computed once.
struct CachePlace<Value: TableValue>: ClaimedPlace {
  let core: CacheCore
  /// The element's key in the table.
  let key: [UInt8]
  let cost: Int?
  let expires: Expiration

  var table: Table { core.table }
  var claimKey: [UInt8] { core.names.claimPrefix.array + key.dropFirst(core.names.elementPrefix.count) }
  var queue: BarrierQueue { core.queue }
  var title: String {
    let shown = String.printableStart(key.dropFirst(core.names.elementPrefix.count))
    return "the value of '\(shown)' in the cache '\(core.name)'"
  }

  func find(timeoutNanoseconds: UInt64) throws(TableError) -> Value? {
    let value = try table.look(key, as: Value.self, timeoutNanoseconds: timeoutNanoseconds).value
    if value != nil { noteHit() }
    return value
  }

  private func noteHit() { unsafe key.withUnsafeBytes { unsafe core.noteHit(core.hash($0)) } }

  func find(_ tx: borrowing Transaction) throws(TableError) -> Value? { try tx.get(key) }

  func withBarrier<R>(
    timeout: Duration?, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    try core.withRoom(bytes: 0, timeout: timeout, body)
  }

  func epoch(_ tx: borrowing Transaction) throws(TableError) -> UInt64 {
    try CacheLedger(core, tx).head.epoch
  }

  func store(computed value: Value, releasing claim: ClaimRecord) throws(TableError) -> Value {
    let isStored = try core.store(key, value, cost: cost, expires: expires, claim: claim)
    if isStored { return value }
    return try find(timeoutNanoseconds: table.timeoutNanoseconds) ?? value
  }
}

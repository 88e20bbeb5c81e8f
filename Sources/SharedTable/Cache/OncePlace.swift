@usableFromInline
final class OncePlace<Value: TableValue>: ClaimedPlace {
  @usableFromInline let table: Table
  @usableFromInline let names: CacheKeys
  let queue: BarrierQueue

  /// The value's key. The names own its memory.
  @usableFromInline let key: KeptBytes
  var claimKey: [UInt8] { names.claimPrefix.array }

  init(_ table: Table, _ name: String) throws(TableError) {
    self.table = table
    names = try CacheKeys(name, table: table)
    key = names.head
    queue = BarrierQueue(in: table, subject: nil)
  }

  var title: String { "the value of '\(String(decoding: key.array, as: UTF8.self))'" }

  @inlinable
  func find() throws(TableError) -> Value? {
    defer { withExtendedLifetime(self) {} }
    return try table.get(unsafe RawKey(key.bytes))
  }

  func find(timeoutNanoseconds: UInt64) throws(TableError) -> Value? {
    try table.look(names.headKey, as: Value.self, timeoutNanoseconds: timeoutNanoseconds).value
  }

  func find(_ tx: borrowing Transaction) throws(TableError) -> Value? { try tx.get(names.headKey) }

  func withBarrier<R>(
    timeout: Duration?, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    try names.withBarrier(of: table, timeout: timeout, body)
  }

  func epoch(_ tx: borrowing Transaction) throws(TableError) -> UInt64 { 0 }

  func store(computed value: Value, releasing claim: ClaimRecord) throws(TableError) -> Value {
    try names.withBarrier(of: table) { tx throws(TableError) in
      _ = try tx.releaseClaim(claimKey, claim)
      // Set by hand meanwhile: then that is the value.
      if let present = try find(tx) { return present }
      try tx.set(names.headKey, value)
      return value
    }
  }
}

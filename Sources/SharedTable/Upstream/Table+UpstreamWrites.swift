/// Writes: for a caller that blocks.
extension Table.Upstream {
  /// Stores text.
  ///
  /// Blocks the calling thread: for a round trip of that store's, and while other writes of this host to the table are under way.
  /// - Parameters:
  ///   - key: without the prefix that the table mirrors.
  ///   - value: any text.
  ///   - timeout: for all of it; nil = the table's. What was sent until then is waited for two seconds more.
  /// - Throws: what ``Table/Upstream`` lists.
  @available(*, noasync, message: "blocks the thread; use the form that is awaited")
  public func set(_ key: some TableKey, _ value: String, timeout: Duration? = nil) throws(TableError) {
    try set(key, Array(value.utf8), timeout: timeout)
  }

  /// Stores bytes. They are a string in the table if they are UTF-8, unless the mirror's `values` are `bytes`.
  ///
  /// Blocks and throws as the form for text.
  @available(*, noasync, message: "blocks the thread; use the form that is awaited")
  public func set(_ key: some TableKey, _ value: [UInt8], timeout: Duration? = nil) throws(TableError) {
    try call(timeout).set(Self.bytes(key), value)
  }

  /// Removes a key.
  ///
  /// Blocks and throws as `set`.
  /// - Returns: whether it was there, at the moment of the removal.
  @available(*, noasync, message: "blocks the thread; use the form that is awaited")
  @discardableResult
  public func remove(_ key: some TableKey, timeout: Duration? = nil) throws(TableError) -> Bool {
    try call(timeout).remove(Self.bytes(key))
  }

  /// Adds to a whole number, which the store has as decimal digits; an absent key counts as 0.
  ///
  /// Blocks and throws as `set`; `typeMismatch` if the value is no such number, `invalid` on overflow.
  /// - Returns: the sum. No two adders get the same.
  @available(*, noasync, message: "blocks the thread; use the form that is awaited")
  @discardableResult
  public func increment(
    _ key: some TableKey, by amount: Int64 = 1, timeout: Duration? = nil
  ) throws(TableError) -> Int64 {
    try call(timeout).increment(Self.bytes(key), by: amount)
  }

  /// Makes several changes at once, which may depend on what the table shows: all of them or, if `body` throws, none.
  ///
  /// `body` runs in a read section of this host's table, of one revision; it sees its own changes. Then the store makes them, if all keys at
  /// which `body` has looked are still what it has seen; else `body` runs anew, on a later revision. So it should do nothing but to the
  /// transaction. What it returns holds at the moment of the commit, also where it changes nothing: the store is asked then, too, for which
  /// shmd wants the right to write one of the keys. To read this host's table as it is, ``Table/read(timeout:_:)`` is enough.
  ///
  /// ```swift
  /// let isMine = try table.upstream.transaction { tx in
  ///   guard try !tx.contains("leader") else { return false }
  ///   try tx.set("leader", "host-7")
  ///   return true
  /// }
  /// ```
  ///
  /// Blocks and throws as `set`. etcd takes 128 keys in a transaction unless it is configured otherwise, and a
  /// key that is looked at and is there counts twice: more are `upstreamRefused`.
  /// - Parameters:
  ///   - timeout: for all runs together; nil = the table's. No run begins after it.
  ///   - body: gets the transaction, which is valid until it returns.
  /// - Throws: also what `body` throws; then nothing was written.
  @available(*, noasync, message: "blocks the thread; use the form that is awaited")
  public func transaction<R>(
    timeout: Duration? = nil, _ body: (inout UpstreamTransaction) throws -> R
  ) throws -> R {
    try call(timeout).transaction(body)
  }

  private func call(_ timeout: Duration?) throws(TableError) -> UpstreamCall {
    try UpstreamCall(table, until: Deadline(table.nanoseconds(timeout)))
  }

  static func bytes(_ key: some TableKey) -> [UInt8] { unsafe key.withKeyBytes { unsafe [UInt8]($0) } }
}

extension SharedCache {
  /// The value of a key. If there is none, one caller on the host computes and stores it, and other callers wait meanwhile.
  ///
  /// `compute` runs on the calling thread, outside any section, and may take its time. If its process dies, one of the callers
  /// that wait takes over within some 100 ms; if it throws, its caller gets the error and one of the others tries. Blocks the
  /// calling thread while another computes; a hit is a read. Not for async code: there, await the other form.
  /// - Parameters:
  ///   - timeout: for the wait for another's computation; nil = the table's. Barriers wait for the table's timeout in any case.
  ///   - cost: as for `set(_:_:cost:expires:if:timeout:)`.
  ///   - expires: as there.
  ///   - compute: makes the value.
  ///   - key: the element's.
  /// - Returns: the value that the cache has now. If the key was removed while it was computed, the computed value,
  ///   which is not stored: it may be from before.
  /// - Throws: what `compute` throws; `timedOut` naming who computes; `wouldDeadlock` if `compute` asks for the same key, or
  ///   inside a section of the table; what `set(_:_:cost:expires:if:timeout:)` throws.
  // Disfavoured, or a closure without an await would choose this form in async code too, where it is unavailable.
  @available(*, noasync, message: "await value(forKey:cost:expires:timeout:orInsert:) instead") @_disfavoredOverload
  @inlinable
  public func value(
    forKey key: Key, cost: Int? = nil, expires: Expiration? = nil, timeout: Duration? = nil,
    orInsert compute: () throws -> Value
  ) throws -> Value {
    if let value = try self[key] { return value }
    return try missingValue(key, cost, expires, timeout, compute)
  }

  @available(*, noasync) @usableFromInline @inline(never)
  func missingValue(
    _ key: Key, _ cost: Int?, _ expires: Expiration?, _ timeout: Duration?, _ compute: () throws -> Value
  ) throws -> Value {
    try place(key, cost, expires).missingValue(timeout: timeout, compute)
  }

  /// The value of a key, for async code. If there is none, one caller on the host computes and stores it, and other callers wait meanwhile.
  ///
  /// Suspends, and keeps no thread of the task's waiting. Ends early with `CancellationError`, within some
  /// 100 ms, if the task is cancelled while another computes; in the rwlock variant when a barrier that is in the way has
  /// ended. A ``HostActor`` over the same table gets `wouldDeadlock`, as its jobs are barriers: ask for the value in a `@concurrent` function.
  nonisolated(nonsending) public func value(
    forKey key: Key, cost: Int? = nil, expires: Expiration? = nil, timeout: Duration? = nil,
    orInsert compute: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    try await core.awaitWritesSuspending()
    // Not by the subscript: that would block the task's thread for writes that others have submitted since.
    let found = core.table.variant == .rcu ? try committed(key) : try await place(key, cost, expires).presentValue()
    if let found { return found }
    return try await place(key, cost, expires).missingValue(timeout: timeout, compute)
  }

  private func place(_ key: Key, _ cost: Int?, _ expires: Expiration?) -> CachePlace<Value> {
    CachePlace(core: core, key: element(key), cost: cost, expires: expiration(expires))
  }
}

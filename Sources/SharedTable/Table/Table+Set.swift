public import TableEngine

/// Single writes: each is a barrier of its own, and starts over once after gc when the table was full.
/// Of the barriers of some keys (`barrier(keys:timeout:_:)`) they wait only for those of their own key.
/// All wait as `barrier(timeout:_:)` does and throw what it throws.
extension Table {
  /// What must hold for a write to happen.
  public enum Condition: Sendable, Equatable {
    /// It happens.
    case always
    /// The key is absent or expired.
    case ifAbsent
    /// The key is present.
    case ifPresent
    /// The key's value is of exactly this version, as ``TableEntry/version`` gave it.
    case ifVersion(UInt64)
  }

  /// Stores a value.
  /// - Returns: whether the condition held and the value was stored.
  @discardableResult
  @inlinable
  public func set<T: TableValue>(
    _ key: some TableKey, _ value: T, expires: Expiration = .never, _ condition: Condition = .always,
    timeout: Duration? = nil
  ) throws(TableError) -> Bool {
    try unsafe key.withKeyBytes { keyBytes throws(TableError) in
      try unsafe value.withTableBytes { bytes throws(TableError) in
        // Known to the caller's compiler, mostly.
        if case .always = condition, case .never = expires, case nil = timeout {
          try unsafe storeAlone(keyBytes, bytes, StoredForm(of: T.self), timeoutNanoseconds)
          return true
        }
        return try unsafe store(keyBytes, bytes, StoredForm(of: T.self), expires, condition, timeout)
      }
    }
  }

  /// Stores bytes as a value of a given type, for tools that carry values without knowing them.
  @discardableResult
  public func set(
    _ key: some TableKey, bytes: [UInt8], type: ValueType, expires: Expiration = .never,
    _ condition: Condition = .always, timeout: Duration? = nil
  ) throws(TableError) -> Bool {
    try unsafe key.withKeyBytes { keyBytes throws(TableError) in
      try unsafe bytes.withKeyBytes { bytes throws(TableError) in
        try unsafe store(keyBytes, bytes, StoredForm(type: type), expires, condition, timeout)
      }
    }
  }

  /// The single write behind all of them: bytes only, so that nothing generic runs inside the barrier.
  @usableFromInline
  func store(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, _ expires: Expiration,
    _ condition: Condition, _ timeout: Duration?
  ) throws(TableError) -> Bool {
    if case .always = condition, case .never = expires {
      try unsafe storeAlone(key, bytes, form, nanoseconds(timeout))
      return true
    }
    return try unsafe withBarrier(timeout: timeout, reach: .key(key)) { tx throws(TableError) in
      guard try tx.holds(condition, unsafe RawKey(key)) else { return false }
      try unsafe tx.store(key, bytes, form, expires)
      return true
    }
  }

  /// The same on no condition, for ever.
  @usableFromInline
  func storeAlone(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, _ timeoutNanoseconds: UInt64
  ) throws(TableError) {
    let attributes = ValueAttributes(
      type: form.type.rawValue, fingerprint: form.fingerprint, alignmentShift: form.alignmentShift)
    try startingOverOnce { () throws(EngineError) in
      try unsafe segment.set(key, bytes, attributes, timeoutNanoseconds: timeoutNanoseconds)
    }
  }

  /// Replaces a value if its version is still the one that was read: a lost update is impossible.
  /// - Returns: whether it was.
  @inlinable
  public func compareAndSet<T: TableValue>(
    _ key: some TableKey, _ value: T, ifVersion version: UInt64, timeout: Duration? = nil
  ) throws(TableError) -> Bool {
    try set(key, value, .ifVersion(version), timeout: timeout)
  }

  /// Removes a key.
  /// - Returns: whether the key was there.
  @discardableResult
  @inlinable
  public func remove(_ key: some TableKey, timeout: Duration? = nil) throws(TableError) -> Bool {
    try unsafe key.withKeyBytes { bytes throws(TableError) in
      if case nil = timeout { return try unsafe remove(bytes: bytes, timeoutNanoseconds) }
      return try unsafe remove(bytes: bytes, nanoseconds(timeout))
    }
  }

  @usableFromInline
  func remove(bytes key: UnsafeRawBufferPointer, _ timeoutNanoseconds: UInt64) throws(TableError) -> Bool {
    try startingOverOnce { () throws(EngineError) in
      try unsafe segment.remove(key, { clock }, timeoutNanoseconds: timeoutNanoseconds)
    }
  }

  /// Runs a single write, and once more where the table was full: the first attempt asked for gc, which the next barrier begins
  /// with.
  @inline(__always)
  private func startingOverOnce<R>(_ write: () throws(EngineError) -> R) throws(TableError) -> R {
    do throws(EngineError) {
      return try write()
    } catch {
      let failure = named(error)
      guard failure.code == .full, failure.holder == nil else { throw failure }
    }
    do throws(EngineError) { return try write() } catch { throw named(error) }
  }

  /// Removes several keys in one barrier.
  /// - Returns: how many were there.
  @discardableResult
  public func remove(_ keys: [some TableKey], timeout: Duration? = nil) throws(TableError) -> Int {
    try withBarrier(timeout: timeout) { tx throws(TableError) in try tx.remove(keys) }
  }

  /// Adds to an integer and returns the sum: see ``Transaction/increment(_:by:)``.
  @discardableResult
  public func increment(_ key: some TableKey, by amount: Int = 1, timeout: Duration? = nil) throws(TableError) -> Int {
    try unsafe key.withKeyBytes { bytes throws(TableError) in
      try unsafe withBarrier(timeout: timeout, reach: .key(bytes)) { tx throws(TableError) in
        try tx.increment(key, by: amount)
      }
    }
  }

  /// Removes the keys whose time has come, at most `limit` of them in one barrier.
  /// - Returns: how many were removed. Nobody saw them any more: expiry is judged when reading.
  @discardableResult
  public func removeExpired(limit: Int = 1000, timeout: Duration? = nil) throws(TableError) -> Int {
    var whole = ExpirySweep()
    return try sweepExpired(&whole, subTables: .max, limit: limit, timeout: timeout)
  }

  /// Runs gc now if nobody is writing, and repairs after a dead writer. For a daemon's idle moments; nobody needs it.
  /// - Parameter passes: the most passes of gc: bounds how long a writer may have to wait for it.
  /// - Returns: whether anything was reclaimed or repaired; nil if a barrier was running.
  @discardableResult
  public func maintain(passes: Int = .max) throws(TableError) -> Bool? {
    do { return try Maintenance(segment).run(passes: passes) } catch { throw named(error) }
  }

  /// What ``shrink()`` has come to.
  public typealias Shrinking = Maintenance.Shrinking

  /// Gives memory that the table does not need back to the system, a step at a time: 1 MiB or more at its end, from which
  /// what is in use is moved before, up to 256 KiB a step. For a daemon's idle moments.
  ///
  /// Nothing is given back of a table that was made with `preallocate`, beside an observer, or as long as readers keep what
  /// lies there; a quarter more than what is in use stays. What is given back is claimed anew when it is needed, by the write
  /// that needs it, which finds `full` if the file system has none left.
  ///
  /// Does not wait for a running barrier. Writers wait for it, in the rwlock variant readers too: some milliseconds.
  /// - Returns: nil if a barrier was running.
  public func shrink() throws(TableError) -> Shrinking? {
    do { return try Maintenance(segment).shrink() } catch { throw named(error) }
  }
}

extension Transaction {
  /// - Returns: how many were there.
  mutating func remove(_ keys: [some TableKey]) throws(TableError) -> Int {
    var removed = 0
    for key in keys where try remove(key) { removed += 1 }
    return removed
  }

  @usableFromInline
  func holds(_ condition: Table.Condition, _ key: some TableKey) throws(TableError) -> Bool {
    switch condition {
    case .always: true
    case .ifAbsent: try !contains(key)
    case .ifPresent: try contains(key)
    case .ifVersion(let version): try entry(key)?.version == version
    }
  }
}

import TableEngine

/// Single writes: each is a barrier of its own.
///
/// A write that finds the table full is tried again after reclaiming. If only a reader that is not stalled yet keeps the room, the write
/// tries again for up to 200 ms, and no longer than its timeout.
/// Of the barriers of some keys (`barrier(keys:timeout:_:)`) a single write waits only for those of its own key.
/// All wait as `barrier(timeout:_:)` does and throw what it throws.
extension Table {
  /// Stores a value, in a barrier of its own.
  ///
  /// Blocks as `barrier(timeout:_:)` does; of barriers of some keys it waits only for those of this key.
  /// - Parameters:
  ///   - key: 1 to 65,536 bytes.
  ///   - value: at most ``maximumValueLength`` bytes.
  ///   - expires: when the value ends by itself; that of the value before is forgotten.
  ///   - condition: what must hold for it to happen.
  ///   - timeout: for the wait; nil = the table's.
  /// - Returns: whether the condition held and the value was stored.
  /// - Throws: `tooLarge`, `invalid` (a key of no bytes), and what `barrier(timeout:_:)` throws; nothing changed then.
  @discardableResult
  @inlinable
  public func set<T: TableValue>(
    _ key: some TableKey, _ value: T, expires: Expiration = .never, if condition: Condition = .always,
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
  ///
  /// Blocks and throws as `set(_:_:expires:if:timeout:)`. Whether the bytes are such a value is not checked.
  /// - Returns: whether the condition held and the value was stored.
  @discardableResult
  public func set(
    _ key: some TableKey, bytes: [UInt8], type: ValueType, expires: Expiration = .never,
    if condition: Condition = .always, timeout: Duration? = nil
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
      try unsafe tx.store(key, bytes, form, expires, if: condition)
    }
  }

  /// As ``store(_:_:_:_:_:_:)``, on no condition, for ever.
  @inlinable @inline(__always)
  func storeAlone(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, _ timeoutNanoseconds: UInt64
  ) throws(TableError) {
    guard form.isPlain else { return try unsafe storeAloneWhole(key, bytes, form, timeoutNanoseconds) }
    try startingOver(timeoutNanoseconds) { () throws(EngineError) in
      try unsafe segment.set(key, bytes, type: form.type.rawValue, timeoutNanoseconds: timeoutNanoseconds)
    }
  }

  @usableFromInline
  func storeAloneWhole(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, _ timeoutNanoseconds: UInt64
  ) throws(TableError) {
    let attributes = form.attributes(expiry: 0)
    try startingOver(timeoutNanoseconds) { () throws(EngineError) in
      try unsafe segment.set(key, bytes, attributes, timeoutNanoseconds: timeoutNanoseconds)
    }
  }

  /// Removes a key, in a barrier of its own.
  ///
  /// Blocks and throws as `set(_:_:expires:if:timeout:)`, also where the key is not there.
  /// - Returns: whether the key was there and had not expired. One that had is removed all the same.
  @discardableResult
  @inlinable
  public func remove(_ key: some TableKey, timeout: Duration? = nil) throws(TableError) -> Bool {
    try unsafe key.withKeyBytes { bytes throws(TableError) in
      if case nil = timeout { return try unsafe remove(bytes: bytes, timeoutNanoseconds) }
      return try unsafe remove(bytes: bytes, nanoseconds(timeout))
    }
  }

  @inlinable @inline(__always)
  func remove(bytes key: UnsafeRawBufferPointer, _ timeoutNanoseconds: UInt64) throws(TableError) -> Bool {
    try startingOver(timeoutNanoseconds) { () throws(EngineError) in
      try unsafe segment.remove(key, { clock }, timeoutNanoseconds: timeoutNanoseconds)
    }
  }

  /// Runs a single write, and again where the table was full.
  @inlinable @inline(__always)
  func startingOver<R>(
    _ timeoutNanoseconds: UInt64, _ write: () throws(EngineError) -> R
  ) throws(TableError) -> R {
    try retryingWhenFull(timeoutNanoseconds) { () throws(TableError) in
      do throws(EngineError) { return try write() } catch { throw named(error) }
    }
  }

  /// Removes several keys in one barrier: all of them or, if it throws, none.
  ///
  /// Blocks and throws as `barrier(timeout:_:)` does, and waits for barriers of whatever keys.
  /// - Returns: how many were there.
  @discardableResult @inlinable
  public func remove(_ keys: [some TableKey], timeout: Duration? = nil) throws(TableError) -> Int {
    try withBarrier(timeout: timeout) { tx throws(TableError) in try tx.remove(keys) }
  }

  /// Adds to an integer and returns the sum, in a barrier of its own: no addition is lost. An absent key counts as 0; its
  /// expiry stays.
  ///
  /// Blocks and throws as `set(_:_:expires:if:timeout:)`; `typeMismatch` and `invalid` as
  /// ``Transaction/increment(_:by:)``.
  @discardableResult @inlinable
  public func increment(_ key: some TableKey, by amount: Int = 1, timeout: Duration? = nil) throws(TableError) -> Int {
    try unsafe key.withKeyBytes { key throws(TableError) in try unsafe increment(RawKey(key), amount, timeout) }
  }

  @usableFromInline
  func increment(_ key: RawKey, _ amount: Int, _ timeout: Duration?) throws(TableError) -> Int {
    try unsafe withBarrier(timeout: timeout, reach: .key(key.bytes)) { tx throws(TableError) in
      try tx.increment(key, amount)
    }
  }
}

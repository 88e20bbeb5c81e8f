public import TableEngine

/// Single reads: each sees the newest committed version. In the RCU variant they wait for nobody (G5); in the rwlock
/// variant for the barrier that runs, at most the table's timeout. Inside a ``read(timeout:_:)`` of the same table
/// on the same thread they join its snapshot.
extension Table {
  /// Copies a value into the caller's buffer, whatever its type: the fastest read, with no call into the runtime.
  ///
  /// RCU variant: never waits. rwlock variant: waits for the barrier that runs, at most the table's timeout.
  /// - Parameters:
  ///   - key: 1 to 65,536 bytes.
  ///   - buffer: where the value goes.
  /// - Returns: the value's length in bytes, nil if the key is absent or expired. If the length exceeds `buffer.count`
  ///   nothing was copied.
  /// - Throws: as ``get(_:as:)->T?``, but no `typeMismatch`.
  @inlinable @inline(__always)
  public func get(
    _ key: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer
  ) throws(TableError) -> Int? {
    guard let start = key.baseAddress, let target = buffer.baseAddress else {
      return try unsafe getGenerally(key.baseAddress, key.count, into: buffer)
    }
    let length = unsafe segment.copyQuickly(start, key.count, to: target, buffer.count)
    if _fastPath(length >= 0) { return length }
    if length == QuickCopy.absent { return nil }
    return try unsafe getGenerally(start, key.count, into: buffer)
  }

  /// As ``get(_:into:)``, for what the quick copy leaves undecided. Out of line with its errors: making and throwing one are calls into the
  /// runtime, of which the quick copy is free.
  @usableFromInline @inline(never)
  func getGenerally(
    _ key: UnsafeRawPointer?, _ keyLength: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(TableError) -> Int? {
    do throws(EngineError) {
      guard let key = unsafe key else { throw .keyLength(0) }
      return try unsafe segment.withValue(
        key, keyLength, timeoutNanoseconds: timeoutNanoseconds, clock: clock
      ) { found in
        let value = unsafe found.value
        if value.count <= buffer.count, let target = buffer.baseAddress, let source = value.baseAddress {
          unsafe target.copyMemory(from: source, byteCount: value.count)
        }
        return value.count
      }
    } catch {
      throw named(error)
    }
  }

  /// The value of a key, copied out; nil if the key is absent or expired.
  ///
  /// RCU variant: never waits. rwlock variant: waits for the barrier that runs, at most the table's timeout.
  /// - Throws: `typeMismatch` if the value is of another type or layout; `invalid` and `tooLarge` for a key that cannot be; what
  ///   ``read(timeout:_:)`` throws, `wouldDeadlock` inside a barrier of this table too: read by its transaction there.
  @inlinable
  public func get<T: TableValue>(_ key: some TableKey, as type: T.Type = T.self) throws(TableError) -> T? {
    if T.tableFingerprint == 0,
      let value = unsafe quickly(key, T.tableType.rawValue, { unsafe T(tableBytes: $0) })
    {
      return value
    }
    return try getUndecided(key, as: type)
  }

  /// As ``get(_:as:)->T?``, after a quick look that has left it undecided: what expires, has older versions, or is of another type.
  @inlinable
  func getUndecided<T: TableValue>(_ key: some TableKey, as type: T.Type = T.self) throws(TableError) -> T? {
    let outcome = try withEntry(key) { found -> Result<T, ValueMismatch> in decode(found, as: type) }
    return try checked(outcome, key)
  }

  /// A copy of a value's bytes, whatever its type; nil if absent or expired. Waits and throws as ``get(_:as:)->T?``, but no
  /// `typeMismatch`.
  @inlinable
  public func bytes(forKey key: some TableKey) throws(TableError) -> [UInt8]? {
    if let value = unsafe quickly(key, nil, { unsafe [UInt8]($0) }) { return value }
    return try withEntry(key) { found in unsafe [UInt8](found.value) }
  }

  /// A copy of a value with its version, type and expiry, whatever its type; nil if absent or expired. Waits and throws as
  /// ``get(_:as:)->T?``, but no `typeMismatch`.
  @inlinable
  public func entry(forKey key: some TableKey) throws(TableError) -> TableEntry? {
    try withEntry(key) { found in TableEntry(found) }
  }

  /// Whether the key is present and not expired. Waits and throws as ``get(_:as:)->T?``, but no `typeMismatch`.
  @inlinable
  public func contains(_ key: some TableKey) throws(TableError) -> Bool {
    if let isThere = unsafe quickly(key, nil, { _ in true }) { return isThere ?? false }
    return try containsUndecided(key)
  }

  /// As ``contains(_:)``, after a quick look that has left it undecided.
  @inlinable
  func containsUndecided(_ key: some TableKey) throws(TableError) -> Bool {
    try withEntry(key) { _ in true } ?? false
  }

  /// The values of several keys, all of one snapshot, copied out; nil where absent or expired.
  ///
  /// Waits as ``read(timeout:_:)`` does.
  /// - Throws: `typeMismatch` if any value is of another type; what else ``get(_:as:)->T?`` throws.
  @inlinable
  public func get<T: TableValue>(_ keys: [some TableKey], as type: T.Type = T.self) throws(TableError) -> [T?] {
    try withSection(timeout: nil) { view throws(TableError) in
      var values: [T?] = []
      values.reserveCapacity(keys.count)
      for key in keys { values.append(try view.get(key, as: type)) }
      return values
    }
  }

  /// A plain value of this type (nil: of any), or none, in the most frequent case; nil leaves it to ``withEntry(_:_:)``.
  @inlinable @inline(__always)
  func quickly<R>(_ key: some TableKey, _ type: UInt8?, _ body: (UnsafeRawBufferPointer) -> R?) -> R?? {
    unsafe key.withKeyBytes { bytes -> R?? in
      guard let start = bytes.baseAddress else { return nil }
      return unsafe segment.readQuickly(start, bytes.count, type: type, body)
    }
  }

  @inlinable @inline(__always)
  func withEntry<R>(_ key: some TableKey, _ body: (FoundEntry) -> R) throws(TableError) -> R? {
    try withEntry(key, timeoutNanoseconds: timeoutNanoseconds, body)
  }

  @inlinable @inline(__always)
  func withEntry<R>(
    _ key: some TableKey, timeoutNanoseconds: UInt64, _ body: (FoundEntry) -> R
  ) throws(TableError) -> R? {
    do throws(EngineError) {
      return try unsafe key.withKeyBytes { bytes throws(EngineError) -> R? in
        guard let start = bytes.baseAddress else { throw EngineError.keyLength(0) }
        return try unsafe segment.withValue(
          start, bytes.count, timeoutNanoseconds: timeoutNanoseconds, clock: clock, body)
      }
    } catch {
      throw named(error)
    }
  }

  @inlinable
  func checked<T>(_ outcome: Result<T, ValueMismatch>?, _ key: some TableKey) throws(TableError) -> T? {
    switch outcome {
    case .success(let value): return value
    case .failure(let mismatch): throw mismatched(mismatch, key)
    case nil: return nil
    }
  }

  @usableFromInline @inline(never)
  func mismatched(_ mismatch: ValueMismatch, _ key: some TableKey) -> TableError {
    return TableError(.typeMismatch, table: name, "the value of '\(key.shown)' \(mismatch.reason)")
  }
}

public import TableEngine

/// The table inside a barrier: reads see the barrier's own changes, writes become visible when it ends.
///
/// In a barrier of some keys it reads and writes only these keys and those that begin with one of them and a slash; any other key
/// is `invalid`.
///
/// Cannot be copied, returned, stored, captured or carried over an `await`.
@safe
public struct Transaction: ~Copyable, ~Escapable {
  /// Not counted, nor is its segment: the lifetime of this value is a borrow of it.
  @usableFromInline unowned(unsafe) let uncounted: Table
  @usableFromInline let segment: UncountedReference<Segment>
  /// The version of this barrier if others may share it, else 0. To closures what is of this version has none: one of the others may change it
  /// again.
  @usableFromInline let sharedVersion: UInt64
  @inlinable var table: Table { unsafe uncounted }
  /// The instant by which this barrier judges expiry, in nanoseconds since 1970.
  public var now: UInt64 { table.segment.instant(table.clock) }
  /// See ``Expiration/after(_:)``.
  var storingInstant: UInt64 { table.segment.storingInstant(table.clock) }

  @inlinable @_lifetime(borrow table)
  init(_ table: borrowing Table, sharedVersion: UInt64 = 0) {
    unsafe uncounted = copy table
    segment = unsafe UncountedReference(table.segment)
    self.sharedVersion = sharedVersion
  }

  /// Stores a value. Never waits.
  /// - Throws: `full` (this change did not happen; the barrier's earlier changes stand, and commit unless the closure throws),
  ///   `tooLarge`, `invalid` (a key of no bytes, or none of this barrier's).
  @inlinable @inline(__always)
  public mutating func set<T: TableValue>(
    _ key: some TableKey, _ value: T, expires: Expiration = .never
  ) throws(TableError) {
    try unsafe key.withKeyBytes { keyBytes throws(TableError) in
      try unsafe value.withTableBytes { bytes throws(TableError) in
        try unsafe store(keyBytes, bytes, StoredForm(of: T.self), expires)
      }
    }
  }

  /// Stores a value if a condition holds of the key as this barrier sees it. Never waits.
  /// - Returns: whether it held and the value was stored.
  /// - Throws: as ``set(_:_:expires:)``.
  @discardableResult
  @inlinable
  public mutating func set<T: TableValue>(
    _ key: some TableKey, _ value: T, expires: Expiration = .never, if condition: Table.Condition
  ) throws(TableError) -> Bool {
    try unsafe key.withKeyBytes { keyBytes throws(TableError) in
      try unsafe value.withTableBytes { bytes throws(TableError) in
        try unsafe store(keyBytes, bytes, StoredForm(of: T.self), expires, if: condition)
      }
    }
  }

  /// Stores bytes as a value of a given type, for tools that carry values without knowing them. Whether they are such a value is
  /// not checked.
  /// - Throws: as ``set(_:_:expires:)``.
  public mutating func set(
    _ key: some TableKey, bytes: UnsafeRawBufferPointer, type: ValueType, expires: Expiration = .never
  ) throws(TableError) {
    try unsafe key.withKeyBytes { keyBytes throws(TableError) in
      try unsafe store(keyBytes, bytes, StoredForm(type: type), expires)
    }
  }

  /// Stores bytes as a value of a given type if a condition holds of the key as this barrier sees it.
  /// - Returns: whether it held and the value was stored.
  /// - Throws: as ``set(_:_:expires:)``.
  @discardableResult
  public mutating func set(
    _ key: some TableKey, bytes: UnsafeRawBufferPointer, type: ValueType, expires: Expiration = .never,
    if condition: Table.Condition
  ) throws(TableError) -> Bool {
    try unsafe key.withKeyBytes { keyBytes throws(TableError) in
      try unsafe store(keyBytes, bytes, StoredForm(type: type), expires, if: condition)
    }
  }

  /// Removes a key. Never waits.
  /// - Returns: whether the key was there and had not expired. One that had is removed all the same.
  /// - Throws: as ``set(_:_:expires:)``; a removal needs some room, too.
  @discardableResult
  @inlinable
  public mutating func remove(_ key: some TableKey) throws(TableError) -> Bool {
    try unsafe key.withKeyBytes { bytes throws(TableError) in try unsafe remove(bytes: bytes) }
  }

  @usableFromInline
  mutating func remove(bytes key: UnsafeRawBufferPointer) throws(TableError) -> Bool {
    do throws(EngineError) {
      return try segment.with { segment throws(EngineError) in try unsafe segment.remove(key) { table.clock } }
    } catch {
      throw table.named(error)
    }
  }

  /// Runs `body` as a part of this barrier that can fail by itself, as SQL does after a savepoint: if `body` throws, only its own
  /// changes are undone, and the error is rethrown. If you catch it, the barrier goes on with the state from before `body`.
  ///
  /// Never waits; may be nested. Undone changes take room in the table and in the barrier's journal until the barrier
  /// ends: after a `full` in `body` the rest of the barrier may find no room either.
  /// - Throws: what `body` throws.
  @inlinable
  public mutating func withSavepoint<R: ~Copyable, E: Error>(
    _ body: (inout Transaction) throws(E) -> R
  ) throws(E) -> R {
    // A child forked in here has the closure but not the barrier: whatever it asks of the table is refused.
    let savepoint = try? segment.with { segment throws(EngineError) in try segment.savepoint() }
    do throws(E) {
      return try body(&self)
    } catch {
      if let savepoint { try? segment.with { segment throws(EngineError) in try segment.rollback(to: savepoint) } }
      throw error
    }
  }

  /// The value of a key as this barrier sees it, copied out; nil if absent or expired. Never waits, but in a barrier of keys of the
  /// rwlock variant for another barrier.
  /// - Throws: `typeMismatch` if the value is of another type or layout; `invalid`, `tooLarge` for a key that cannot be, or is none
  ///   of this barrier's.
  @inlinable
  public func get<T: TableValue>(_ key: some TableKey, as type: T.Type = T.self) throws(TableError) -> T? {
    try table.checked(find(key).map { decode($0, as: type) }, key)
  }

  /// A copy of a value with its version, type and expiry, as this barrier sees it; nil if absent or expired.
  /// - Throws: as ``get(_:as:)``, but no `typeMismatch`.
  @inlinable
  public func entry(forKey key: some TableKey) throws(TableError) -> TableEntry? {
    try find(key).map { TableEntry(view($0)) }
  }

  /// Whether the key is present and not expired, as this barrier sees it.
  /// - Throws: as ``get(_:as:)``, but no `typeMismatch`.
  @inlinable
  public func contains(_ key: some TableKey) throws(TableError) -> Bool { try find(key) != nil }

  /// Adds to an integer and returns the sum; an absent key counts as 0. The key's expiry stays.
  ///
  /// A string of decimal digits (with sign) becomes an integer: what `shmctl set` stored can be counted on.
  /// - Throws: `typeMismatch` for anything else, `invalid` on overflow; what ``set(_:_:expires:)`` throws. Nothing changed then.
  @discardableResult @inlinable
  public mutating func increment(_ key: some TableKey, by amount: Int = 1) throws(TableError) -> Int {
    try unsafe key.withKeyBytes { key throws(TableError) in try unsafe increment(RawKey(key), amount) }
  }

  @usableFromInline
  mutating func increment(_ key: RawKey, _ amount: Int) throws(TableError) -> Int {
    let found = try find(key)
    // Read before the sum is stored, which may take the old value's place.
    let expiry = found?.expiry ?? 0
    let (sum, overflow) = try integer(found, key).addingReportingOverflow(amount)
    if overflow {
      throw TableError(
        .invalid, table: table.name,
        "the sum of \(amount) and the value of '\(key.shown)' does not fit into 64 bits; add less")
    }
    try set(key, sum, expires: Expiration(stored: expiry))
    return sum
  }

  private func integer(_ found: FoundEntry?, _ key: RawKey) throws(TableError) -> Int {
    guard let found else { return 0 }
    if found.hasForm(of: Int.self), let value = unsafe Int(tableBytes: found.value) { return value }
    if found.hasForm(of: String.self), let value = unsafe Int(String(decoding: found.value, as: UTF8.self)) {
      return value
    }
    // A program's own value may have one of both types, and another layout.
    let stored = found.meta.type
    let hasOtherLayout = found.fingerprint != 0 && stored == ValueType.integer.rawValue
    throw table.mismatched(ValueMismatch(stored: stored, wanted: .integer, layout: hasOtherLayout), key)
  }

  /// The keys that begin with `prefix`, as this barrier sees them, sorted bytewise; in a barrier of some keys, of those.
  public func keys(prefix: some TableKey = "") throws(TableError) -> [[UInt8]] { try sortedKeys(prefix) }

  @inlinable
  func find(_ key: some TableKey) throws(TableError) -> FoundEntry? {
    do throws(EngineError) {
      return try unsafe key.withKeyBytes { bytes throws(EngineError) in
        try segment.with { segment throws(EngineError) in try unsafe segment.findInBarrier(bytes) { table.clock } }
      }
    } catch {
      throw table.named(error)
    }
  }

  /// What this barrier sees under a key whose hash the caller knows; nil if that is absent or expired.
  @inline(__always)
  func find(_ key: UnsafeRawBufferPointer, hash: UInt64) throws(TableError) -> FoundEntry? {
    do throws(EngineError) {
      return try segment.with { segment throws(EngineError) in
        try unsafe segment.findInBarrier(key, hash: hash) { table.clock }
      }
    } catch {
      throw table.named(error)
    }
  }

  /// Stores a value that does not expire in place of the key's, if that is there and has not expired.
  /// - Parameter hash: the key's.
  /// - Returns: false with nothing done if it is not.
  @inline(__always)
  mutating func replace(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm
  ) throws(TableError) -> Bool {
    let attributes = form.attributes(expiry: 0)
    do throws(EngineError) {
      return try segment.with { segment throws(EngineError) in
        try unsafe segment.replace(key, hash: hash, bytes, attributes) { table.clock }
      }
    } catch {
      throw table.named(error)
    }
  }

  /// Stores a value that does not expire, unless the key has one of another type or layout.
  /// - Returns: false with nothing done if it has.
  @inlinable @inline(__always)
  mutating func overwrite<T: TableValue>(_ key: some TableKey, _ value: T) throws(TableError) -> Bool {
    try unsafe key.withKeyBytes { key throws(TableError) in
      try unsafe value.withTableBytes { bytes throws(TableError) in
        let form = StoredForm(of: T.self)
        return form.isPlain
          ? try unsafe overwrite(key, bytes, type: form.type) : try unsafe overwriteWhole(key, bytes, form)
      }
    }
  }

  @usableFromInline
  mutating func overwrite(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, type: ValueType
  ) throws(TableError) -> Bool {
    do throws(EngineError) {
      return try segment.with { segment throws(EngineError) in
        try unsafe segment.overwrite(key, bytes, type: type.rawValue) { table.clock }
      }
    } catch {
      throw table.named(error)
    }
  }

  @usableFromInline
  mutating func overwriteWhole(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm
  ) throws(TableError) -> Bool {
    let attributes = form.attributes(expiry: 0)
    do throws(EngineError) {
      return try segment.with { segment throws(EngineError) in
        try unsafe segment.overwrite(key, bytes, attributes) { table.clock }
      }
    } catch {
      throw table.named(error)
    }
  }

  /// Bytes only, so that nothing generic runs inside the barrier.
  @inlinable @inline(__always)
  mutating func store(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, _ expires: Expiration
  ) throws(TableError) {
    guard form.isPlain, case .never = expires else { return try unsafe storeWhole(key, bytes, form, expires) }
    do throws(EngineError) {
      try segment.with { segment throws(EngineError) in try unsafe segment.put(key, bytes, type: form.type.rawValue) }
    } catch {
      throw table.named(error)
    }
  }

  @usableFromInline
  mutating func storeWhole(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, _ expires: Expiration
  ) throws(TableError) {
    let attributes = form.attributes(expiry: expires.nanoseconds(now: storingInstant))
    do throws(EngineError) {
      try segment.with { segment throws(EngineError) in try unsafe segment.put(key, bytes, attributes) }
    } catch {
      throw table.named(error)
    }
  }
}

public import TableEngine

/// One value under one name: all instances of that name, in all processes, are the same value.
///
/// ```swift
/// let hits = try SharedValue("hits", in: table, default: 0)
/// try hits.increment()
/// try hits.mutate { $0 *= 2 }
/// ```
/// It lies under the key NAME with its own type, so `shmctl get`, `incr` and, with the type (`set hits 5 --int`), `set` work on it, as does the
/// table's own API.
/// An absent (or expired) value reads as the default, which is not stored. If the key has an expiry, a change keeps it, and a `set`
/// removes it. If two instances of one name have different types, one of them gets `typeMismatch`.
///
/// Reads wait as `table.get` does, changes are barriers and wait as `Table.barrier(timeout:_:)` does. Both
/// throw what those throw, and `wouldDeadlock` inside a barrier of the table on the same thread: use the forms with `in:` there, which
/// also change several values at once. What they return is a copy, and valid for ever.
/// Safe to use from any thread.
public struct SharedValue<Value: TableValue>: Sendable {
  /// The table that it lies in.
  public let table: Table
  /// The name that it has in the table.
  public let name: String
  /// What it is while the table has none.
  public let defaultValue: Value

  /// Names it; reads and writes nothing yet.
  /// - Parameters:
  ///   - name: 1 to 200 bytes without "/", "#" and control characters.
  ///   - defaultValue: what it is while the table has none; not stored.
  ///   - table: where it lies.
  /// - Throws: `invalid` for another name. Touches the table not at all.
  public init(_ name: String, in table: Table, default defaultValue: Value) throws(TableError) {
    self.name = try CollectionKeys(name, table).text
    self.table = table
    self.defaultValue = defaultValue
  }

  /// The value as of now.
  @inlinable
  public var value: Value {
    get throws(TableError) { try table.get(name, as: Value.self) ?? defaultValue }
  }

  /// The value in a section. Never waits.
  @inlinable
  public func value(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> Value {
    try table.admit(section, name)
    return try section.get(name, as: Value.self) ?? defaultValue
  }

  /// Replaces the value, whatever it is by now; the new one does not expire. To change it depending on what it is, use
  /// `mutate(timeout:_:)`.
  @inlinable
  public func set(_ value: Value, timeout: Duration? = nil) throws(TableError) {
    try withBarrier(timeout) { tx throws(TableError) in try set(value, in: &tx) }
  }

  /// Replaces the value as part of a barrier.
  /// - Throws: `typeMismatch`, `full`, `tooLarge`, `wrongTable`; the value stays then.
  @inlinable
  public func set(_ value: Value, in tx: inout Transaction) throws(TableError) {
    try table.admit(tx, name)
    // What was refused is of another type still, since a barrier judges expiry by one instant: so the check throws.
    if try !tx.overwrite(name, value) { try checkType(in: tx) }
  }

  /// Forgets the value: from then on it is the default.
  /// - Returns: whether one was stored.
  @discardableResult
  @inlinable
  public func remove(timeout: Duration? = nil) throws(TableError) -> Bool {
    try withBarrier(timeout) { tx throws(TableError) in try remove(in: &tx) }
  }

  /// Forgets the value as part of a barrier: from then on it is the default. Throws what the transaction throws.
  @discardableResult
  @inlinable
  public func remove(in tx: inout Transaction) throws(TableError) -> Bool {
    try checkType(in: tx)
    return try tx.remove(name)
  }

  /// The value as this barrier sees it, and when it expires; the default does not.
  @inlinable
  func look(in tx: borrowing Transaction) throws(TableError) -> (value: Value, expires: Expiration) {
    try table.admit(tx, name)
    guard let found = try tx.find(name) else { return (defaultValue, .never) }
    let value = try tx.table.checked(decode(found, as: Value.self), name)
    return (value ?? defaultValue, Expiration(stored: found.expiry))
  }

  /// A barrier that changes this value only: it waits for who has locked its key, and not for who has locked others.
  @inlinable
  func withBarrier<R>(
    _ timeout: Duration? = nil, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    try unsafe name.withKeyBytes { key throws(TableError) in
      try unsafe table.withBarrier(timeout: timeout, reach: .key(key), body)
    }
  }

  /// What lies under the name is nobody else's. Its bytes need not be valid: a write is the way to repair them.
  @inlinable
  func checkType(in tx: borrowing Transaction) throws(TableError) {
    try table.admit(tx, name)
    guard let entry = try tx.find(name) else { return }
    if !entry.hasForm(of: Value.self) { throw mismatch(entry, Value.tableType) }
  }

  /// Out of line, and without the value's type: it is seldom needed.
  @usableFromInline @inline(never)
  func mismatch(_ entry: FoundEntry, _ wanted: ValueType) -> TableError {
    let type = ValueType(rawValue: entry.meta.type)
    let other = type == wanted ? "another layout" : "type \(type?.name ?? "unknown")"
    return TableError(
      .typeMismatch, table: table.name,
      "'\(name)' holds a value of \(other), not \(wanted.name); use another name, or remove the key first")
  }
}

/// Changes that depend on the value: each is one barrier, so that nobody's change is lost. The key's expiry stays.
extension SharedValue {
  /// Changes the value in place, in one barrier.
  ///
  /// `body` runs alone on the host: keep it short. If it throws, the value stays.
  /// - Returns: what `body` returns.
  @discardableResult
  @inlinable
  public func mutate<R>(timeout: Duration? = nil, _ body: (inout Value) throws -> R) throws -> R {
    try unsafe name.withKeyBytes { key in
      try unsafe table.beginBarrier(timeout, reach: .key(key))
      return try table.runBarrier { tx in try mutate(in: &tx, body) }
    }
  }

  /// Changes the value in place, as part of a barrier.
  @discardableResult @inlinable
  public func mutate<R>(in tx: inout Transaction, _ body: (inout Value) throws -> R) throws -> R {
    var value: Value
    let expires: Expiration
    (value, expires) = try look(in: tx)
    let result = try body(&value)
    try tx.set(name, value, expires: expires)
    return result
  }

  /// Replaces the value and returns the one before, in one barrier.
  @discardableResult
  @inlinable
  public func exchange(_ value: Value, timeout: Duration? = nil) throws(TableError) -> Value {
    try withBarrier(timeout) { tx throws(TableError) in try exchange(value, in: &tx) }
  }

  /// Replaces the value as part of a barrier and returns the one before; throws what the transaction throws.
  @discardableResult
  @inlinable
  public func exchange(_ value: Value, in tx: inout Transaction) throws(TableError) -> Value {
    let (original, expires) = try look(in: tx)
    try tx.set(name, value, expires: expires)
    return original
  }

  /// Replaces the value if it equals `expected`, in one barrier.
  /// - Returns: whether it did, and the value that was found.
  @discardableResult
  @inlinable
  public func compareExchange(
    expected: Value, desired: Value, timeout: Duration? = nil
  ) throws(TableError) -> (exchanged: Bool, original: Value) where Value: Equatable {
    try withBarrier(timeout) { tx throws(TableError) in
      try compareExchange(expected: expected, desired: desired, in: &tx)
    }
  }

  /// Replaces the value if it equals `expected`, as part of a barrier; throws what the transaction throws.
  @discardableResult
  @inlinable
  public func compareExchange(
    expected: Value, desired: Value, in tx: inout Transaction
  ) throws(TableError) -> (exchanged: Bool, original: Value) where Value: Equatable {
    let (original, expires) = try look(in: tx)
    guard original == expected else { return (false, original) }
    try tx.set(name, desired, expires: expires)
    return (true, original)
  }
}

/// Numbers. The key's expiry stays.
extension SharedValue where Value: FixedWidthInteger {
  /// Adds to the value in one barrier and returns the sum.
  /// - Throws: `invalid` if the sum does not fit; the value stays then.
  @discardableResult
  @inlinable
  public func increment(by amount: Value = 1, timeout: Duration? = nil) throws(TableError) -> Value {
    try withBarrier(timeout) { tx throws(TableError) in try increment(by: amount, in: &tx) }
  }

  /// Adds as part of a barrier, and returns the sum; throws what the transaction throws.
  @discardableResult @inlinable
  public func increment(by amount: Value = 1, in tx: inout Transaction) throws(TableError) -> Value {
    try replace(in: &tx) { $0.addingReportingOverflow(amount) }
  }

  /// Adds in one barrier: `try $hits += 1`.
  @inlinable
  public static func += (value: Self, amount: Value) throws(TableError) { try value.increment(by: amount) }

  /// Subtracts in one barrier.
  @inlinable
  public static func -= (value: Self, amount: Value) throws(TableError) {
    try value.withBarrier { tx throws(TableError) in try value.decrement(by: amount, in: &tx) }
  }

  @inlinable
  func decrement(by amount: Value, in tx: inout Transaction) throws(TableError) {
    _ = try replace(in: &tx) { $0.subtractingReportingOverflow(amount) }
  }

  @inlinable
  func replace(
    in tx: inout Transaction, _ compute: (Value) -> (partialValue: Value, overflow: Bool)
  ) throws(TableError) -> Value {
    let (value, expires) = try look(in: tx)
    let (result, overflow) = compute(value)
    if overflow { throw overflowed(Value.bitWidth) }
    try tx.set(name, result, expires: expires)
    return result
  }
}

extension SharedValue {
  @usableFromInline @inline(never)
  func overflowed(_ bits: Int) -> TableError {
    TableError(
      .invalid, table: table.name, "'\(name)': the result does not fit into \(bits) bits; the value stays as it was")
  }
}

extension SharedValue where Value: FloatingPoint {
  /// Adds in one barrier.
  @inlinable
  public static func += (value: Self, amount: Value) throws(TableError) {
    try value.withBarrier { tx throws(TableError) in try value.compute(in: &tx) { $0 + amount } }
  }

  /// Subtracts in one barrier.
  @inlinable
  public static func -= (value: Self, amount: Value) throws(TableError) {
    try value.withBarrier { tx throws(TableError) in try value.compute(in: &tx) { $0 - amount } }
  }
}

extension SharedValue where Value: RangeReplaceableCollection {
  /// Appends in one barrier.
  @inlinable
  public static func += (value: Self, tail: some Sequence<Value.Element>) throws(TableError) {
    // A sequence may end with its first pass, and the barrier may be tried again.
    let tail = Value(tail)
    try value.withBarrier { tx throws(TableError) in try value.compute(in: &tx) { $0 + tail } }
  }
}

extension SharedValue {
  /// Stores what `body` makes of the value.
  @inlinable
  func compute(in tx: inout Transaction, _ body: (Value) -> Value) throws(TableError) {
    let (value, expires) = try look(in: tx)
    try tx.set(name, body(value), expires: expires)
  }
}

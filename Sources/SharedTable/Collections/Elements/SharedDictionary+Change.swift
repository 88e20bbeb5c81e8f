/// Changes: one barrier each, or, with `in:`, part of one. If one throws, it changed nothing; a barrier whose closure
/// catches the error goes on as if it had not been tried. One that finds no room is tried again, as a `set` of the table is, unless a closure of
/// the caller's runs in it.
extension SharedDictionary {
  /// Stores a value.
  /// - Returns: whether the condition held and the value was stored.
  @discardableResult
  @inlinable
  public func set(
    _ key: Key, _ value: Value, if condition: Table.Condition = .always, timeout: Duration? = nil
  ) throws(TableError) -> Bool {
    try store.set(key, value, if: condition, timeout: timeout)
  }

  /// Stores a value as part of a barrier; throws what the transaction throws.
  @inlinable
  public func set(_ key: Key, _ value: Value, in tx: inout Transaction) throws(TableError) {
    _ = try store.set(key, value, if: .always, in: &tx)
  }

  /// Stores a value as part of a barrier if a condition holds; throws what the transaction throws.
  /// - Returns: whether it held and the value was stored.
  @discardableResult
  @inlinable
  public func set(
    _ key: Key, _ value: Value, if condition: Table.Condition, in tx: inout Transaction
  ) throws(TableError) -> Bool {
    try store.set(key, value, if: condition, in: &tx)
  }

  /// Stores a value and returns the one before; nil if there was none.
  @discardableResult
  @inlinable
  public func updateValue(_ value: Value, forKey key: Key, timeout: Duration? = nil) throws(TableError) -> Value? {
    try store.place.withBarrier(timeout) { tx throws(TableError) in
      try updateValue(value, forKey: key, in: &tx)
    }
  }

  /// Stores a value as part of a barrier and returns the one before; nil if there was none. Throws what the transaction throws.
  @discardableResult
  @inlinable
  public func updateValue(_ value: Value, forKey key: Key, in tx: inout Transaction) throws(TableError) -> Value? {
    let old = try get(key, in: tx)
    try set(key, value, in: &tx)
    return old
  }

  /// Removes a key and returns its value; nil if there was none.
  @discardableResult
  @inlinable
  public func removeValue(forKey key: Key, timeout: Duration? = nil) throws(TableError) -> Value? {
    try store.place.withBarrier(timeout) { tx throws(TableError) in try removeValue(forKey: key, in: &tx) }
  }

  /// Removes a key as part of a barrier and returns its value; nil if there was none. Throws what the transaction throws.
  @discardableResult
  @inlinable
  public func removeValue(forKey key: Key, in tx: inout Transaction) throws(TableError) -> Value? {
    let old = try get(key, in: tx)
    try store.remove(CollectionOfOne(key), in: &tx)
    return old
  }

  /// Removes some keys in one barrier.
  /// - Returns: how many were there.
  @discardableResult
  @inlinable
  public func remove(_ keys: some Sequence<Key>, timeout: Duration? = nil) throws(TableError) -> Int {
    // A sequence may end with its first pass, and the barrier may be tried again.
    let keys = Array(keys)
    return try store.place.withBarrier(timeout) { tx throws(TableError) in try remove(keys, in: &tx) }
  }

  /// Removes some keys as part of a barrier, whatever their values; throws what the transaction throws.
  /// - Returns: how many were there.
  @discardableResult
  @inlinable
  public func remove(_ keys: some Sequence<Key>, in tx: inout Transaction) throws(TableError) -> Int {
    try store.remove(keys, in: &tx)
  }

  /// Changes a value in place, in one barrier; an absent one begins as `defaultValue`.
  ///
  /// `body` runs alone on the host: keep it short. If it throws, nothing changes.
  @discardableResult
  @inlinable
  public func mutate<R>(
    _ key: Key, default defaultValue: @autoclosure () -> Value, timeout: Duration? = nil,
    _ body: (inout Value) throws -> R
  ) throws -> R {
    try store.place.barrier(timeout) { tx in try mutate(key, default: defaultValue(), in: &tx, body) }
  }

  /// Changes a value in place as part of a barrier; an absent one begins as `defaultValue`. Throws what the transaction throws.
  @discardableResult
  @inlinable
  public func mutate<R>(
    _ key: Key, default defaultValue: @autoclosure () -> Value, in tx: inout Transaction,
    _ body: (inout Value) throws -> R
  ) throws -> R {
    var value = try get(key, in: tx) ?? defaultValue()
    let result = try body(&value)
    try set(key, value, in: &tx)
    return result
  }

  /// Changes a value in place, in one barrier: nil is an absent one, and setting nil removes it.
  @discardableResult
  @inlinable
  public func mutate<R>(
    _ key: Key, timeout: Duration? = nil, _ body: (inout Value?) throws -> R
  ) throws -> R {
    try store.place.barrier(timeout) { tx in try mutate(key, in: &tx, body) }
  }

  /// Changes a value in place as part of a barrier: nil is an absent one, and setting nil removes it. Throws what the transaction throws.
  @discardableResult
  @inlinable
  public func mutate<R>(_ key: Key, in tx: inout Transaction, _ body: (inout Value?) throws -> R) throws -> R {
    var value = try get(key, in: tx)
    let result = try body(&value)
    if let value { try set(key, value, in: &tx) } else { try store.remove(CollectionOfOne(key), in: &tx) }
    return result
  }

  /// Stores many elements in one barrier: all of them, or none. With `combine` it is not tried again if the table is full.
  ///
  /// Of elements whose keys Swift takes for equal (texts in two forms: ``SharedKey``), the first one's key is stored.
  /// - Parameters:
  ///   - combine: makes one value of the old and the new one where the key is there; without it the new one
  ///     stays. Called inside the barrier.
  ///   - elements: what to put in.
  ///   - timeout: for the wait; nil = the table's.
  @inlinable
  public func merge(
    _ elements: some Sequence<(Key, Value)>, timeout: Duration? = nil,
    uniquingKeysWith combine: ((_ current: Value, _ new: Value) throws -> Value)? = nil
  ) throws {
    // Outside the barrier: a sequence may take its time, and read the table.
    let elements = Array(elements)
    guard let combine else { return try store.place.repeatableBarrier(timeout) { tx in try merge(elements, in: &tx) } }
    try store.place.barrier(timeout) { tx in try merge(elements, in: &tx, uniquingKeysWith: combine) }
  }

  /// Stores many elements as part of a barrier; throws what the transaction throws.
  @inlinable
  public func merge(
    _ elements: some Sequence<(Key, Value)>, in tx: inout Transaction,
    uniquingKeysWith combine: ((_ current: Value, _ new: Value) throws -> Value)? = nil
  ) throws {
    var merged: [Key: Value] = [:]
    for (key, value) in elements {
      guard let combine else {
        merged[key] = value
        continue
      }
      let current = try merged[key] ?? get(key, in: tx)
      merged[key] = try current.map { try combine($0, value) } ?? value
    }
    try store.set(merged.lazy.map { (key: $0.key, value: $0.value) }, in: &tx)
  }

  /// Stores a Swift dictionary's elements in one barrier; ``merge(_:timeout:uniquingKeysWith:)`` says the rest.
  @inlinable
  public func merge(
    _ elements: [Key: Value], timeout: Duration? = nil,
    uniquingKeysWith combine: ((_ current: Value, _ new: Value) throws -> Value)? = nil
  ) throws {
    try merge(elements.lazy.map { ($0.key, $0.value) }, timeout: timeout, uniquingKeysWith: combine)
  }

  /// Removes all elements in one barrier, and the dictionary's type: the name is free.
  @inlinable
  public func removeAll(timeout: Duration? = nil) throws(TableError) {
    try store.place.withBarrier(timeout) { tx throws(TableError) in try removeAll(in: &tx) }
  }

  /// Removes all elements and the dictionary's type as part of a barrier; throws what the transaction throws.
  @inlinable
  public func removeAll(in tx: inout Transaction) throws(TableError) { try store.removeAll(in: &tx) }
}

import SharedTable

/// What write commands change: a table in a barrier, or a draft of what the store is to take that the table mirrors.
protocol WriteSection: Section, ~Copyable, ~Escapable {
  /// The name of the collection of a program's that a key belongs to; nil if there is none.
  func nameOfCollection(of key: UnsafeRawBufferPointer) throws(TableError) -> [UInt8]?
  /// The longest value that the table takes, in bytes.
  var longestValue: Int { get }
  mutating func put(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ type: ValueType, expiry: UInt64?
  ) throws(TableError)
  /// Stores a number as what programs read as one, if the section has such values.
  mutating func set(_ key: Bytes, _ number: Int, expires: Expiration) throws(TableError)
  mutating func set(_ key: Bytes, _ number: Double, expires: Expiration) throws(TableError)
  /// Removes a key.
  /// - Returns: whether it was there.
  mutating func take(_ key: UnsafeRawBufferPointer) throws(TableError) -> Bool
  /// Stores a key's value, as what it is, under a key (which may be the same) with another expiry.
  /// - Returns: whether there is such a value.
  mutating func copy(
    _ source: UnsafeRawBufferPointer, to target: UnsafeRawBufferPointer, expiry: UInt64?
  ) throws(TableError) -> Bool
  /// Removes keys, so many at most.
  /// - Returns: whether there were no more.
  mutating func removeAll(most: Int) throws(TableError) -> Bool
  /// Runs `body`; if it throws, what it changed is undone.
  mutating func withSavepoint<R: ~Copyable, E: Error>(_ body: (inout Self) throws(E) -> R) throws(E) -> R
}

extension Transaction: WriteSection {
  func nameOfCollection(of key: UnsafeRawBufferPointer) throws(TableError) -> [UInt8]? {
    try unsafe collection(ofBytes: key)?.name
  }

  mutating func removeAll(most: Int) throws(TableError) -> Bool {
    var keys: [[UInt8]] = []
    var isAll = true
    try forEachKey { key in
      isAll = keys.count < most
      if isAll { keys.append(key.array) }
      return isAll
    }
    for key in keys { try remove(key) }
    return isAll
  }
}

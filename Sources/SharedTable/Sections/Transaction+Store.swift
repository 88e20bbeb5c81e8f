import TableEngine

extension Transaction {
  /// - Returns: how many were there.
  @inlinable
  mutating func remove(_ keys: [some TableKey]) throws(TableError) -> Int {
    var removed = 0
    for key in keys where try remove(key) { removed += 1 }
    return removed
  }

  /// Stores a value if the condition holds.
  /// - Returns: whether it did.
  @inlinable
  mutating func store(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, _ expires: Expiration,
    if condition: Table.Condition
  ) throws(TableError) -> Bool {
    if case .always = condition {} else if try !holds(condition, unsafe RawKey(key)) { return false }
    try unsafe store(key, bytes, form, expires)
    return true
  }

  @usableFromInline
  func holds(_ condition: Table.Condition, _ key: RawKey) throws(TableError) -> Bool {
    switch condition {
    case .always: true
    case .absent: try !contains(key)
    case .present: try contains(key)
    case .version(let version): try find(key)?.version == version
    }
  }
}

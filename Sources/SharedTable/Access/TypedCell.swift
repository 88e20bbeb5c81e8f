@usableFromInline
final class TypedCell<Value: TableValue>: AccessCell {
  @usableFromInline let key: [UInt8]
  @usableFromInline let expires: Expiration
  /// Nil: the table has none.
  @usableFromInline var value: Value?
  @usableFromInline var isChanged = false

  @inlinable
  init(_ key: [UInt8], _ value: Value?, expires: Expiration) {
    self.key = key
    self.value = value
    self.expires = expires
  }

  @inlinable
  func take() -> Value? {
    defer { value = nil }
    return value
  }

  @inlinable
  func writeBack(_ table: Table) throws(TableError) {
    guard isChanged, let value else { return }
    var transaction = Transaction(table)
    try transaction.set(key, value, expires: expires)
    isChanged = false
  }
}

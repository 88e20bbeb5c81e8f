import TableEngine

/// Changes that leave a value what it is, also one of a struct whose type this program does not know.
extension Transaction {
  /// Gives a key another expiry; its value and type stay.
  /// - Returns: whether the key was there.
  /// - Throws: as ``set(_:_:expires:)`` does.
  @discardableResult
  public mutating func setExpiration(_ expires: Expiration, of key: some TableKey) throws(TableError) -> Bool {
    guard case (let bytes, var attributes)? = try carried(key) else { return false }
    attributes.expiry = expires.nanoseconds(now: storingInstant)
    try carry(key, bytes, attributes)
    return true
  }

  /// Moves a value to another key, with its type and expiry; what was there is replaced.
  /// - Returns: whether the key was there.
  /// - Throws: as ``set(_:_:expires:)`` does; both keys are then as they were.
  @discardableResult
  public mutating func rename(_ key: some TableKey, to target: some TableKey) throws(TableError) -> Bool {
    guard let (bytes, attributes) = try carried(key) else { return false }
    // Both or neither: whoever catches the error of the second goes on in the barrier.
    try withSavepoint { (tx: inout Transaction) throws(TableError) in
      // Removed first: a key may be renamed to itself.
      try tx.remove(key)
      try tx.carry(target, bytes, attributes)
    }
    return true
  }
}

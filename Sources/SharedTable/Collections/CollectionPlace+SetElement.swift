/// A dictionary's or set's elements as bytes: what is generic is not specialised for other modules' types.
extension CollectionPlace {
  /// Stores one element if the condition holds, and lists it if it was not there: a barrier of its own.
  /// - Returns: whether it was stored.
  @usableFromInline
  func setElement(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, if condition: Table.Condition,
    timeout: Duration?
  ) throws(TableError) -> Bool {
    try withBarrier(timeout) { tx throws(TableError) in
      try unsafe setElement(key, bytes, form, if: condition, in: &tx)
    }
  }

  /// The same as a part of a barrier.
  @usableFromInline
  func setElement(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, if condition: Table.Condition,
    in tx: inout Transaction
  ) throws(TableError) -> Bool {
    let hasHeader = try hasHeader(in: tx)
    return try unsafe name.withKey(bytes: key) { stored throws(TableError) in
      try unsafe stored.withKeyBytes { stored throws(TableError) in
        if case .always = condition {} else if try !tx.holds(condition, unsafe RawKey(stored)) { return false }
        if hasHeader, try tx.contains(unsafe RawKey(stored)) {
          try unsafe tx.store(stored, bytes, form, .never)
        } else {
          try unsafe addElement(key, stored, bytes, form, in: &tx)
        }
        return true
      }
    }
  }

  @inline(never)
  private func addElement(
    _ key: UnsafeRawBufferPointer, _ stored: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer,
    _ form: StoredForm, in tx: inout Transaction
  ) throws(TableError) {
    let index = ElementIndex(place: self)
    let state = try index.state(in: tx)
    try tx.withSavepoint { tx throws(TableError) in
      try unsafe tx.store(stored, bytes, form, .never)
      var edit = ElementIndexEdit(index, state)
      try unsafe edit.list(key, in: tx)
      try edit.store(in: &tx)
    }
  }
}

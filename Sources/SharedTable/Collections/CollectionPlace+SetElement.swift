import TableEngine

/// A dictionary's or set's elements as bytes: what is generic is not specialised for other modules' types.
extension CollectionPlace {
  /// Stores one element if the condition holds, and lists it if it was not there: a barrier of its own.
  /// - Returns: whether it was stored.
  @usableFromInline
  func setElement(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, if condition: Table.Condition,
    timeout: Duration?
  ) throws(TableError) -> Bool {
    guard unsafe name.isShortAndUnreserved(key) else {
      return try unsafe setRareElement(key, bytes, form, if: condition, timeout)
    }
    let place = unsafe UncountedReference(self)
    return try unsafe name.withShortKey(key) { stored throws(TableError) in
      // Before the barrier, which others wait for.
      let hash = unsafe table.segment.hash(stored)
      return try withDirectBarrier(timeout) { barrier throws(TableError) -> Bool? in
        guard case .always = condition, hasHeader(in: barrier),
          try unsafe table.replace(stored, hash: hash, bytes, form, committing: barrier)
        else { return nil }
        return true
      } generally: { tx throws(TableError) in
        try place.with { place throws(TableError) in
          try unsafe place.storeGenerally(key, stored, hash, bytes, form, if: condition, in: &tx)
        }
      }
    }
  }

  /// As ``setElement(_:_:_:if:timeout:)``, as a part of a barrier.
  @usableFromInline
  func setElement(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, if condition: Table.Condition,
    in tx: inout Transaction
  ) throws(TableError) -> Bool {
    guard unsafe name.isShortAndUnreserved(key) else {
      return try unsafe setRareElement(key, bytes, form, if: condition, in: &tx)
    }
    return try unsafe name.withShortKey(key) { stored throws(TableError) in
      try unsafe store(key, stored, table.segment.hash(stored), bytes, form, if: condition, in: &tx)
    }
  }

  /// As ``setElement(_:_:_:if:timeout:)``, for a key that is long, or begins as those do that are no elements'.
  @inline(never)
  private func setRareElement(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, if condition: Table.Condition,
    _ timeout: Duration?
  ) throws(TableError) -> Bool {
    try withBarrier(timeout) { tx throws(TableError) in
      try unsafe setRareElement(key, bytes, form, if: condition, in: &tx)
    }
  }

  @inline(never)
  private func setRareElement(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, if condition: Table.Condition,
    in tx: inout Transaction
  ) throws(TableError) -> Bool {
    try unsafe name.withKey(bytes: key) { stored throws(TableError) in
      try unsafe stored.withKeyBytes { stored throws(TableError) in
        try unsafe store(key, stored, table.segment.hash(stored), bytes, form, if: condition, in: &tx)
      }
    }
  }

  /// - Parameters:
  ///   - key: the element's.
  ///   - stored: the same in the table.
  @inline(__always)
  private func store(
    _ key: UnsafeRawBufferPointer, _ stored: UnsafeRawBufferPointer, _ hash: UInt64, _ bytes: UnsafeRawBufferPointer,
    _ form: StoredForm, if condition: Table.Condition, in tx: inout Transaction
  ) throws(TableError) -> Bool {
    let hasHeader = try hasHeader(in: tx)
    if case .always = condition {} else if try !tx.holds(condition, unsafe RawKey(stored)) { return false }
    let isReplaced = hasHeader ? try unsafe tx.replace(stored, hash: hash, bytes, form) : false
    if !isReplaced { try unsafe addElement(key, stored, bytes, form, in: &tx) }
    return true
  }

  /// Where something is to be found out first: whether the condition holds, or what is wrong with the header; or the element is new.
  @inline(never)
  private func storeGenerally(
    _ key: UnsafeRawBufferPointer, _ stored: UnsafeRawBufferPointer, _ hash: UInt64, _ bytes: UnsafeRawBufferPointer,
    _ form: StoredForm, if condition: Table.Condition, in tx: inout Transaction
  ) throws(TableError) -> Bool {
    try unsafe store(key, stored, hash, bytes, form, if: condition, in: &tx)
  }

  @inline(never)
  private func addElement(
    _ key: UnsafeRawBufferPointer, _ stored: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer,
    _ form: StoredForm, in tx: inout Transaction
  ) throws(TableError) {
    var edit = try ElementIndex(place: self).edit(in: tx)
    try tx.withSavepoint { tx throws(TableError) in
      try unsafe tx.store(stored, bytes, form, .never)
      try unsafe edit.list(key, in: tx)
      try edit.store(in: &tx)
    }
  }
}

public import TableEngine

/// A collection's own place in its table.
@usableFromInline
struct CollectionPlace: Sendable {
  @usableFromInline let table: Table
  @usableFromInline let name: CollectionName
  let signature: String
  /// How many numbers the header holds.
  let numbers: Int

  /// The header's numbers; nil if the collection has none yet.
  /// - Throws: `typeMismatch` if the name is another collection's or a value's, `damaged`.
  func header(in section: borrowing some (TableSection & ~Copyable & ~Escapable)) throws(TableError) -> [Int]? {
    let reading = try section.withEntry(name.text) { entry -> CollectionHeader.Reading in
      guard entry.type == CollectionHeader.tableType, entry.fingerprint == CollectionHeader.tableFingerprint else {
        return .other("a value of type \(entry.type?.name ?? "unknown")")
      }
      if let numbers = CollectionHeader.numbers(entry.bytes, signature, count: numbers) { return .numbers(numbers) }
      return entry.value(as: CollectionHeader.self)?.read(signature, count: numbers) ?? .unreadable
    }
    switch reading {
    case nil: return nil
    case .numbers(let numbers): return numbers
    case .other(let what):
      throw TableError(
        .typeMismatch, table: table.name, "'\(name.text)' is \(what), not \(signature); use another name")
    case .unreadable: throw damaged("its header cannot be read")
    }
  }

  func setHeader(_ numbers: [Int], in tx: inout Transaction) throws(TableError) {
    try tx.set(name.text, CollectionHeader(signature, numbers))
  }

  /// Stores an element's bytes under a key below the name; the header holds the number of elements.
  ///
  /// Knows elements as bytes only: what is generic is not specialised for other modules' types.
  @usableFromInline
  func setElement(
    _ key: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm, in tx: inout Transaction
  ) throws(TableError) {
    let count = try header(in: tx)?[0] ?? 0
    try unsafe PrefixedKey(name.prefix, key).withKeyBytes { key throws(TableError) in
      if try tx.contains(unsafe RawKey(key)) { return try unsafe tx.store(key, bytes, form, .never) }
      try tx.withSavepoint { tx throws(TableError) in
        try unsafe tx.store(key, bytes, form, .never)
        try setHeader([count + 1], in: &tx)
      }
    }
  }

  /// Removes the header and all that lies behind the name: it is free for another type.
  func removeAll(in tx: inout Transaction) throws(TableError) {
    guard try header(in: tx) != nil else { return }
    let keys = try tx.keys(prefix: name.prefix)
    try tx.withSavepoint { tx throws(TableError) in
      for key in keys { try tx.remove(key) }
      try tx.remove(name.text)
    }
  }

  func damaged(_ what: String) -> TableError {
    TableError(
      .damaged, table: table.name,
      "damaged: collection '\(name.text)': \(what); remove the keys '\(name.text)' and '\(name.text)/…', and fill it anew"
    )
  }
}

/// Barriers that change one collection only: they wait for who has locked its name or something below it, and not for who has
/// locked keys of others.
extension CollectionPlace {
  @inlinable
  func withBarrier<R>(
    _ timeout: Duration?, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    try withReach { reach throws(TableError) in try table.withBarrier(timeout: timeout, reach: reach, body) }
  }

  @inlinable
  func barrier<R>(_ timeout: Duration?, _ body: (inout Transaction) throws -> R) throws -> R {
    try withReach { reach throws in
      try table.beginBarrier(timeout, reach: reach)
      return try table.runBarrier(body)
    }
  }

  @inlinable
  func withReach<R, E: Error>(_ body: (BarrierReach) throws(E) -> R) throws(E) -> R {
    try unsafe name.prefix.withKeyBytes { prefix throws(E) in
      try unsafe body(.subtree(UnsafeRawBufferPointer(rebasing: prefix.dropLast())))
    }
  }
}

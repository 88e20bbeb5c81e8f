public import TableEngine

/// A table at one version, inside a read section: cannot be returned, stored, captured or carried over an `await`.
///
/// Everything read through one view is of one snapshot (G1). Spans point into shared memory (for an observer, into
/// copies that live as long as the section) and are valid as long as the view.
@safe
public struct ReadView: ~Escapable {
  /// Not counted, nor is its segment: the lifetime of this value is a borrow of it.
  @usableFromInline unowned(unsafe) let uncounted: Table
  @usableFromInline let segment: UncountedReference<Segment>
  @usableFromInline let section: ReadSection
  @inlinable var table: Table { unsafe uncounted }

  @inlinable @_lifetime(borrow table)
  init(_ table: borrowing Table, _ section: ReadSection) {
    unsafe uncounted = copy table
    segment = unsafe UncountedReference(table.segment)
    self.section = section
  }

  /// The version this view shows.
  @inlinable public var version: UInt64 { section.snapshot }
  /// The instant by which this section judges expiry, in nanoseconds since 1970.
  public var now: UInt64 { table.segment.instant(table.clock) }

  /// The value of a key, copied out; nil if absent or expired. Never waits.
  /// - Throws: `typeMismatch`; `invalid`, `tooLarge` for a key that cannot be; for an observer `snapshotTooOld` once reclaiming
  ///   has passed the view's version.
  @inlinable
  public func get<T: TableValue>(_ key: some TableKey, as type: T.Type = T.self) throws(TableError) -> T? {
    if T.tableFingerprint == 0,
      let value = unsafe quickly(key, T.tableType.rawValue, { unsafe T(tableBytes: $0) })
    {
      return value
    }
    return try table.checked(find(key).map { decode($0, as: type) }, key)
  }

  /// A value's bytes in place, whatever its type; nil if absent or expired. No copy: valid as long as the view. Never waits.
  /// - Throws: as ``get(_:as:)``, but no `typeMismatch`.
  @inlinable @inline(__always) @_lifetime(copy self)
  public func bytes(forKey key: some TableKey) throws(TableError) -> RawSpan? {
    guard let quick = unsafe quickly(key, nil, { unsafe $0 }) else {
      guard let found = try find(key) else { return nil }
      return unsafe _overrideLifetime(RawSpan(_unsafeBytes: found.value), copying: self)
    }
    guard let value = unsafe quick else { return nil }
    return unsafe _overrideLifetime(RawSpan(_unsafeBytes: value), copying: self)
  }

  /// A copy of a value with its version, type and expiry; nil if absent or expired. Never waits.
  /// - Throws: as ``get(_:as:)``, but no `typeMismatch`.
  @inlinable
  public func entry(forKey key: some TableKey) throws(TableError) -> TableEntry? { try find(key).map(TableEntry.init) }

  /// Whether the key is present and not expired. Never waits.
  /// - Throws: as ``get(_:as:)``, but no `typeMismatch`.
  @inlinable
  public func contains(_ key: some TableKey) throws(TableError) -> Bool {
    if let isThere = unsafe quickly(key, nil, { _ in true }) { return isThere ?? false }
    return try find(key) != nil
  }

  /// Visits every key that begins with `prefix`, in no particular order, each exactly once; expired ones left out.
  ///
  /// The spans are valid during the call of `body`; an error that it throws ends the visit. Looks at the whole table, and waits for
  /// nobody.
  /// - Throws: what `body` throws; for an observer `snapshotTooOld`, and `damaged`.
  public func forEach(
    prefix: some TableKey = "", _ body: (_ key: RawSpan, _ entry: EntryView) throws -> Void
  ) throws {
    try visitAll(prefix, body)
  }

  /// The first value that `transform` makes of a key that begins with `prefix` and its entry, in no particular order; nil if it
  /// makes none. Looks no further then.
  ///
  /// ```swift
  /// let any = try view.first(prefix: "user/") { _, entry in entry.value(as: Int.self) }
  /// ```
  /// - Throws: what `transform` throws; else as ``forEach(prefix:_:)``.
  public func first<R>(
    prefix: some TableKey = "", _ transform: (_ key: RawSpan, _ entry: EntryView) throws -> R?
  ) throws -> R? {
    try visitFirst(prefix, transform)
  }

  /// The keys that begin with `prefix`, copied out and sorted bytewise. Looks at the whole table; throws as ``forEach(prefix:_:)``.
  public func keys(prefix: some TableKey = "") throws(TableError) -> [[UInt8]] { try sortedKeys(prefix) }

  /// The number of keys that this view shows. Looks at the whole table; throws as ``forEach(prefix:_:)``.
  public func count() throws(TableError) -> Int {
    var count = 0
    try scan("") { _ in
      count += 1
      return true
    }
    return count
  }

  /// A plain value of this type (nil: of any), or none, in the most frequent case; nil leaves it to ``find(_:)``.
  @inlinable @inline(__always)
  func quickly<R>(_ key: some TableKey, _ type: UInt8?, _ body: (UnsafeRawBufferPointer) -> R?) -> R?? {
    #if DEBUG || CheckedReads
      // It wants to be shown entries.
      if section.check != nil { return nil }
    #endif
    // Not through the view: a closure that holds one counts references.
    let (segment, section) = (segment, section)
    return unsafe key.withKeyBytes { bytes -> R?? in
      guard let start = bytes.baseAddress else { return nil }
      return segment.with { unsafe $0.readQuickly(start, bytes.count, in: section, type: type, body) }
    }
  }

  /// A participant's look has no errors to carry out of the key's closure.
  @inlinable @inline(never)
  func find(_ key: some TableKey) throws(TableError) -> FoundEntry? {
    let inPlace = unsafe key.withKeyBytes { bytes in
      segment.with { unsafe $0.findInPlace(bytes, section) { table.clock } }
    }
    guard let found = inPlace else { return try findGenerally(key) }
    #if DEBUG || CheckedReads
      if let found, let check = section.check { return check.show(found) }
    #endif
    return found
  }

  /// The look-up for observers, and for keys that are none.
  @inlinable @inline(never)
  func findGenerally(_ key: some TableKey) throws(TableError) -> FoundEntry? {
    do throws(EngineError) {
      return try unsafe key.withKeyBytes { bytes throws(EngineError) in
        try unsafe table.segment.find(bytes, section, table.clock)
      }
    } catch {
      throw table.named(error)
    }
  }
}

extension FoundEntry {
  func hasPrefix(_ prefix: UnsafeRawBufferPointer) -> Bool { unsafe key.begins(with: prefix) }
}

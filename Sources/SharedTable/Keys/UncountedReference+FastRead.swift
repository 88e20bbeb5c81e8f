public import TableEngine

/// Looks at the newest committed version in the most frequent case, for handles that hold their table: its segment is not counted.
extension UncountedReference<Segment> {
  /// What `Table.quickly` says of a key; the caller may know the key's hash.
  @inlinable @inline(__always)
  func quickly<R>(
    _ key: UnsafeRawBufferPointer, hash: UInt64? = nil, _ type: UInt8?, _ body: (UnsafeRawBufferPointer) -> R?
  ) -> R?? {
    guard let start = key.baseAddress else { return nil }
    return with { segment in unsafe segment.readQuickly(start, key.count, hash: hash, type: type, body) }
  }

  /// A value of this type, or none; nil where `Table.getUndecided` must decide.
  @inlinable @inline(__always)
  func value<T: TableValue>(_ key: UnsafeRawBufferPointer, hash: UInt64? = nil, as type: T.Type = T.self) -> T?? {
    if T.tableFingerprint != 0 { return nil }
    return unsafe quickly(key, hash: hash, T.tableType.rawValue) { bytes in unsafe T(tableBytes: bytes) }
  }
}

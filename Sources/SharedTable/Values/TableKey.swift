/// What can name a value: 1 to 65,536 bytes, any bytes.
///
/// A string's key is its UTF-8.
public protocol TableKey {
  /// Calls `body` with the key's bytes, valid during the call.
  func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R
}

extension TableKey {
  /// The key's beginning as printable text, for messages: another process's key must not look like a line of a log.
  var shown: String { unsafe withKeyBytes { unsafe String.printableStart($0) } }
}

extension String: TableKey {
  /// Without a copy of the string, which would count a reference.
  @inlinable @inline(__always)
  public func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result: Result<R, E>? = unsafe utf8.withContiguousStorageIfAvailable { utf8 in
      do throws(E) {
        return .success(try unsafe body(UnsafeRawBufferPointer(utf8)))
      } catch {
        return .failure(error)
      }
    }
    // On Linux all strings are stored as UTF-8.
    return try result!.get()
  }
}

extension Substring: TableKey {
  @inlinable
  public func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe String(self).withKeyBytes(body)
  }
}

extension Array: TableKey where Element == UInt8 {
  @inlinable
  public func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBufferPointer { bytes throws(E) in try unsafe body(UnsafeRawBufferPointer(bytes)) }
  }
}

extension ArraySlice: TableKey where Element == UInt8 {
  @inlinable
  public func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe Array(self).withKeyBytes(body)
  }
}

/// Bytes that a caller further out keeps valid.
@usableFromInline @safe
struct RawKey: TableKey {
  @usableFromInline let bytes: UnsafeRawBufferPointer

  @inlinable @unsafe
  init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = bytes }

  @inlinable
  func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe body(bytes)
  }
}

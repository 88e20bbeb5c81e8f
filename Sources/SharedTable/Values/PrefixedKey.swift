/// Bytes behind a prefix, put together on the stack. Which prefix and which bytes make an element's key, `CollectionKeys` and
/// `CacheKeys` say.
@usableFromInline @safe
struct PrefixedKey: TableKey {
  @usableFromInline let prefix: KeptBytes
  @usableFromInline let rest: UnsafeRawBufferPointer

  /// Both are kept valid by the caller as long as this key is used.
  @inlinable @inline(__always) @unsafe
  init(_ prefix: KeptBytes, _ rest: UnsafeRawBufferPointer) {
    self.prefix = prefix
    unsafe self.rest = rest
  }

  @inlinable @inline(__always)
  func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let length = unsafe prefix.count &+ rest.count
    let byteCount = length &+ KeptBytes.room
    let result: Result<R, E> = unsafe withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { place in
      unsafe prefix.copy(to: place.baseAddress!)
      if let source = unsafe rest.baseAddress {
        unsafe (place.baseAddress! + prefix.count).copyMemory(from: source, byteCount: rest.count)
      }
      do throws(E) {
        return .success(try unsafe body(UnsafeRawBufferPointer(rebasing: place[..<length])))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

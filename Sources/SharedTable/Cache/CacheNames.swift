/// The keys under which one cache lies in its table; of a ``SharedOnce``, the first and the last.
///
/// ```
/// NAME        the ledger's head
/// NAME#r<i>   page i of the ledger (decimal)
/// NAME/KEY    an element
/// NAME#kKEY   the claim of who computes it; no KEY where the value is the name's own
/// ```
/// A ``CollectionName`` has neither '/' nor '#', so keys of two caches differ, and none of the four kinds meets another.
@usableFromInline
struct CacheNames: Sendable {
  @usableFromInline let elementPrefix: [UInt8]
  let head: [UInt8]
  let pagePrefix: [UInt8]
  let claimPrefix: [UInt8]

  init(_ name: String, table: Table) throws(TableError) {
    let bytes = Array(try CollectionName(name, table).text.utf8)
    head = bytes
    elementPrefix = bytes + [UInt8(ascii: "/")]
    pagePrefix = bytes + Array("#r".utf8)
    claimPrefix = bytes + Array("#k".utf8)
  }

  func page(_ index: Int) -> [UInt8] { pagePrefix + Array(String(index).utf8) }

  /// The claim that belongs to an element's key in the table.
  func claim(ofElement key: UnsafeRawBufferPointer) -> [UInt8] {
    unsafe claimPrefix + key.dropFirst(elementPrefix.count)
  }
}

/// A key behind a prefix, put together on the stack.
@usableFromInline @safe
struct PrefixedKey<Key: TableKey>: TableKey {
  @usableFromInline let prefix: [UInt8]
  @usableFromInline let key: Key

  @inlinable
  init(_ prefix: [UInt8], _ key: Key) {
    self.prefix = prefix
    self.key = key
  }

  @inlinable
  func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe key.withKeyBytes { bytes throws(E) -> R in
      let length = prefix.count + bytes.count
      let result: Result<R, E> = unsafe withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) { place in
        unsafe place.copyBytes(from: prefix)
        if bytes.count > 0 {
          unsafe UnsafeMutableRawBufferPointer(rebasing: place[prefix.count...]).copyMemory(from: bytes)
        }
        do throws(E) {
          return .success(try unsafe body(UnsafeRawBufferPointer(place)))
        } catch {
          return .failure(error)
        }
      }
      return try result.get()
    }
  }
}

/// The keys under which one cache lies in its table; of a ``SharedOnce``, the first and the last.
///
/// ```
/// NAME        the ledger's head
/// NAME#r<i>   page i of the ledger (decimal)
/// NAME/KEY    an element
/// NAME#kKEY   the claim of who computes it; no KEY where the value is the name's own
/// ```
/// A class, so that whoever hands it on counts one reference and not one for each key.
///
/// A ``CollectionName`` has neither '/' nor '#', so keys of two caches differ, and none of the four kinds meets another.
@usableFromInline
final class CacheNames: Sendable {
  @usableFromInline let elementPrefix: [UInt8]
  @usableFromInline let head: [UInt8]
  let pagePrefix: [UInt8]
  let claimPrefix: [UInt8]

  init(_ name: String, table: Table) throws(TableError) {
    let bytes = Array(try CollectionName(name, table).text.utf8)
    head = bytes
    elementPrefix = bytes + [UInt8(ascii: "/")]
    pagePrefix = bytes + Array("#r".utf8)
    claimPrefix = bytes + Array("#k".utf8)
  }

  /// A barrier that changes this cache only: it waits for who has locked its name or an element's key, and not for who has
  /// locked others.
  func withBarrier<R>(
    of table: Table, timeout: Duration? = nil, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    try unsafe head.withKeyBytes { name throws(TableError) in
      try unsafe table.withBarrier(timeout: timeout, reach: .subtree(name), body)
    }
  }

  /// Calls `body` with the key of a page.
  func withPage<R>(_ index: Int, _ body: (RawKey) throws(TableError) -> R) throws(TableError) -> R {
    try unsafe pagePrefix.withNumberedKey(index) { key throws(TableError) in try body(unsafe RawKey(key)) }
  }

  /// The claim that belongs to an element's key in the table; valid as long as that.
  func claim(ofElement key: UnsafeRawBufferPointer) -> PrefixedKey {
    unsafe PrefixedKey(claimPrefix, UnsafeRawBufferPointer(rebasing: key.dropFirst(elementPrefix.count)))
  }
}

import TableEngine

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
/// A ``CollectionKeys`` has neither '/' nor '#', so keys of two caches differ, and none of the four kinds meets another.
@usableFromInline
final class CacheKeys: Sendable {
  @usableFromInline let elementPrefix: KeptBytes
  let head: KeptBytes
  private let headHash: UInt64
  let pagePrefix: KeptBytes
  let claimPrefix: KeptBytes

  private static let pageMark = Array("#r".utf8)
  /// How the key of page 0 ends.
  static let firstPageEnd = pageMark + Array("0".utf8)

  init(_ name: String, table: Table) throws(TableError) {
    let bytes = Array(try CollectionKeys(name, table).text.utf8)
    head = KeptBytes(bytes)
    headHash = unsafe table.segment.hash(head.bytes)
    elementPrefix = KeptBytes(bytes + [UInt8(ascii: "/")])
    pagePrefix = KeptBytes(bytes + Self.pageMark)
    claimPrefix = KeptBytes(bytes + Array("#k".utf8))
  }

  deinit { for bytes in [elementPrefix, head, pagePrefix, claimPrefix] { bytes.deallocate() } }

  /// A barrier that changes this cache only: it waits for sections that have locked the cache's name or an element's key, and for
  /// no section that has locked other keys.
  @inline(__always)
  func withBarrier<R>(
    of table: Table, timeout: Duration? = nil, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    defer { withExtendedLifetime(self) {} }
    return try table.withBarrier(timeout: timeout, reach: unsafe .subtree(head.bytes), body)
  }

  /// See ``Table/withDirectBarrier(below:hash:_:quickly:generally:)``. Its `root` is the head.
  @inline(__always)
  func withDirectBarrier<R>(
    of table: Table, _ timeout: Duration?, quickly: (DirectBarrier) throws(TableError) -> R?,
    generally: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    defer { withExtendedLifetime(self) {} }
    return try unsafe table.withDirectBarrier(
      below: head.bytes, hash: headHash, timeout, quickly: quickly, generally: generally)
  }

  /// The key of the head; valid as long as these names.
  var headKey: RawKey { unsafe RawKey(head.bytes) }

  /// Calls `body` with the key of a page.
  func withPage<R>(_ index: Int, _ body: (RawKey) throws(TableError) -> R) throws(TableError) -> R {
    defer { withExtendedLifetime(self) {} }
    return try unsafe pagePrefix.withNumberedKey(index) { key throws(TableError) in try body(unsafe RawKey(key)) }
  }

  /// The claim that belongs to an element's key in the table; valid as long as that and these names.
  func claim(ofElement key: UnsafeRawBufferPointer) -> PrefixedKey {
    let prefix = elementPrefix.count
    return unsafe PrefixedKey(
      claimPrefix, UnsafeRawBufferPointer(start: key.baseAddress! + prefix, count: key.count &- prefix))
  }
}

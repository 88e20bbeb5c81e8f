/// The name of a value or collection, and the keys that belong to it: the name itself and all that begin with the name
/// and a slash.
///
/// A name contains no slash and no number sign, so no key belongs to two names, nor to what a cache keeps beside its elements.
@usableFromInline
struct CollectionName: Sendable {
  @usableFromInline let text: String
  /// What the keys of all elements begin with.
  @usableFromInline let prefix: [UInt8]

  /// - Throws: `invalid` unless the name has 1 to 200 bytes, and no slash, number sign or control character.
  @usableFromInline
  init(_ text: String, _ table: Table) throws(TableError) {
    let isShort = (1...200).contains(text.utf8.count)
    guard isShort, !text.utf8.contains(where: Self.isForbidden) else {
      throw TableError(
        .invalid, table: table.name,
        "'\(text.prefix(64))' is no name for a value or collection: use 1 to 200 bytes without '/', '#' and control "
          + "characters")
    }
    self.text = text
    prefix = Array(text.utf8) + [UInt8(ascii: "/")]
  }

  private static func isForbidden(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "#") || byte < 0x20 || byte == 0x7f
  }

  /// Calls `body` with the table's key of an element.
  @inlinable @inline(__always)
  func withKey<R, E: Error>(_ element: some SharedKey, _ body: (PrefixedKey) throws(E) -> R) throws(E) -> R {
    try unsafe element.withElementKey { bytes throws(E) in try unsafe body(PrefixedKey(prefix, bytes)) }
  }

  /// Calls `body` with the key of the element that is a number, 0 or more: as ``key(_:)``, without an allocation.
  func withNumberedKey<R>(
    _ number: Int, _ body: (UnsafeRawBufferPointer) throws(TableError) -> R
  ) throws(TableError) -> R {
    var result: Result<R, TableError>?
    // The longest name, the slash, and the digits of the largest number, written from the end.
    unsafe withUnsafeTemporaryAllocation(byteCount: 200 + 1 + 20, alignment: 1) { buffer in
      var start = buffer.count
      var rest = number
      repeat {
        start -= 1
        unsafe buffer[start] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      } while rest > 0
      start -= 1
      unsafe buffer[start] = UInt8(ascii: "/")
      start -= text.utf8.count
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start...]).copyBytes(from: text.utf8)
      do throws(TableError) {
        result = .success(try unsafe body(UnsafeRawBufferPointer(rebasing: buffer[start...])))
      } catch {
        result = .failure(error)
      }
    }
    return try result!.get()
  }

  /// The part of an element's key behind the prefix.
  func element<Key: SharedKey>(_ key: RawSpan, as type: Key.Type) -> Key? {
    unsafe key.withUnsafeBytes { bytes in
      unsafe Key(keyBytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst(text.utf8.count + 1)))
    }
  }
}

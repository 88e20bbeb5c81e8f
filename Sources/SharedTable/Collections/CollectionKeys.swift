/// The name of a value or collection, and the keys that belong to it: the name itself and all that begin with the name
/// and a slash.
///
/// A name contains no slash and no number sign, so no key belongs to two names, nor to what a cache keeps beside its elements.
/// A class, so that whoever hands it on counts one reference.
@usableFromInline
final class CollectionKeys: Sendable {
  @usableFromInline let text: String
  /// What the keys of all elements begin with.
  @usableFromInline let prefix: KeptBytes
  /// The name, in the prefix' memory.
  @usableFromInline let ownKey: KeptBytes
  /// What the keys of an ``ElementIndex``'s pages begin with. The others lie in its memory.
  let pagePrefix: KeptBytes

  /// - Throws: `invalid` unless the name has 1 to 200 bytes, and no slash, number sign or control character.
  @usableFromInline
  init(_ text: String, _ table: Table) throws(TableError) {
    guard Self.isName(text) else {
      throw TableError(
        .invalid, table: table.name,
        "'\(String.printableStart(text.utf8))' is no name for a value or collection: use 1 to 200 bytes without '/', '#' and control "
          + "characters")
    }
    self.text = text
    pagePrefix = KeptBytes(Array(text.utf8) + [UInt8(ascii: "/"), Self.reserved])
    prefix = pagePrefix.dropLast()
    ownKey = prefix.dropLast()
  }

  deinit { pagePrefix.deallocate() }

  /// Can it be the name of a value or collection?
  static func isName(_ text: String) -> Bool {
    (1...200).contains(text.utf8.count) && !text.utf8.contains(where: isForbidden)
  }

  private static func isForbidden(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "#") || byte < 0x20 || byte == 0x7f
  }

  /// What keys begin with behind the slash that are no elements'. An element's key that begins with it gets it twice. No UTF-8
  /// has it.
  @usableFromInline static var reserved: UInt8 { 0xff }

  /// Calls `body` with the table's key of the value or the collection's header: the name itself.
  @inlinable @inline(__always)
  func withOwnKey<R, E: Error>(_ body: (RawKey) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(self) {} }
    return try unsafe body(RawKey(ownKey.bytes))
  }

  /// Does an element's key begin as keys do that are no elements'?
  @inlinable @inline(__always)
  static func isReserved(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return false }
    return unsafe start.load(as: UInt8.self) == reserved
  }

  /// Calls `body` with the table's key of the element whose own key has these bytes.
  @inline(__always)
  func withKey<R, E: Error>(
    bytes: UnsafeRawBufferPointer, _ body: (PrefixedKey) throws(E) -> R
  ) throws(E) -> R {
    defer { withExtendedLifetime(self) {} }
    if unsafe Self.isReserved(bytes) { return try unsafe withDoubledKey(bytes, body) }
    return try unsafe body(PrefixedKey(prefix, bytes))
  }

  /// Whether the table's key of an element is put together by ``withShortKey(_:_:)``.
  @inline(__always)
  func isShortAndUnreserved(_ bytes: UnsafeRawBufferPointer) -> Bool {
    unsafe bytes.count <= KeptBytes.shortRest && !Self.isReserved(bytes)
  }

  /// Calls `body` with the table's key of the element whose own key has these bytes, few and not reserved.
  @inline(__always)
  func withShortKey<R>(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(TableError) -> R
  ) throws(TableError) -> R {
    defer { withExtendedLifetime(self) {} }
    return try unsafe prefix.withShortKey(bytes, body)
  }

  @usableFromInline @inline(never)
  func withDoubledKey<R, E: Error>(
    _ bytes: UnsafeRawBufferPointer, _ body: (PrefixedKey) throws(E) -> R
  ) throws(E) -> R {
    try unsafe ([Self.reserved] + bytes).withKeyBytes { bytes throws(E) in try unsafe body(PrefixedKey(prefix, bytes)) }
  }

  /// Calls `body` with the key of the element that is a number, 0 or more.
  func withNumberedKey<R>(
    _ number: Int, _ body: (UnsafeRawBufferPointer) throws(TableError) -> R
  ) throws(TableError) -> R {
    defer { withExtendedLifetime(self) {} }
    return try unsafe prefix.withNumberedKey(number, body)
  }

  /// Calls `body` with the key of a page of the ``ElementIndex``.
  func withPageKey<R>(_ number: Int, _ body: (RawKey) throws(TableError) -> R) throws(TableError) -> R {
    defer { withExtendedLifetime(self) {} }
    return try unsafe pagePrefix.withNumberedKey(number) { key throws(TableError) in try unsafe body(RawKey(key)) }
  }
}

extension KeptBytes {
  /// The longest rest of a key that is put together in a frame of a size that the compiler knows: else it prepares in each call for
  /// memory of the heap. With a name of 200 bytes and two more it is below 1,024.
  static var shortRest: Int { 800 }

  /// Calls `body` with these bytes and a short rest behind them, put together on the stack. They are a name and at most two bytes
  /// more.
  @inline(__always)
  func withShortKey<R>(
    _ rest: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(TableError) -> R
  ) throws(TableError) -> R {
    let result: Result<R, TableError> = unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { place in
      let start = place.baseAddress!
      unsafe copy(to: start)
      if let bytes = rest.baseAddress { unsafe (start + count).copyMemory(from: bytes, byteCount: rest.count) }
      do throws(TableError) {
        return .success(try unsafe body(UnsafeRawBufferPointer(start: start, count: count &+ rest.count)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// The longest key that ``withNumberedKey(_:_:)`` puts together: behind these bytes come the digits of the largest number.
  var numberedKeyLength: Int { count + 20 }

  /// Calls `body` with these bytes and a number behind them, 0 or more, put together on the stack: the key of a page or node.
  /// They are a name and at most two bytes more.
  @inline(__always)
  func withNumberedKey<R, E: Error>(
    _ number: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    // The longest name, two bytes, and the digits of the largest number.
    precondition(count <= 202 && number >= 0)
    let result: Result<R, E> = unsafe withUnsafeTemporaryAllocation(byteCount: 222, alignment: 8) { place in
      let base = place.baseAddress!
      unsafe copy(to: base)
      let end = unsafe Self.writeDecimal(number, to: base, at: count)
      do throws(E) {
        return .success(try unsafe body(UnsafeRawBufferPointer(start: base, count: end)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// - Returns: where the digits end.
  @inline(__always)
  private static func writeDecimal(_ number: Int, to base: UnsafeMutableRawPointer, at start: Int) -> Int {
    var end = start &+ 1
    var rest = number
    while rest >= 10 {
      rest /= 10
      end &+= 1
    }
    rest = number
    var place = end
    repeat {
      place &-= 1
      unsafe base.storeBytes(of: UInt8(truncatingIfNeeded: 0x30 &+ rest % 10), toByteOffset: place, as: UInt8.self)
      rest /= 10
    } while place > start
    return end
  }
}

/// A key of a ``SharedDictionary`` or an element of a ``SharedSet``: bytes that name it, and the way back.
///
/// Equal values have equal bytes and different ones different bytes. `String` (its UTF-8), `[UInt8]`, all integers
/// (decimal text, as `shmctl ls` shows it), and types with such a raw value: `enum Room: String, SharedKey { … }`.
///
/// Texts are told apart by their UTF-8, not by canonical equivalence: "é" as one scalar and as two are equal in Swift, and two keys
/// here. A copy of both in a Swift `Dictionary` or `Set`, as `allElements()` makes one, has one of them. Texts that people type are
/// better brought into one normal form before they become keys.
///
/// Not a ``TableKey``, so that no number is taken for a key of the table itself.
public protocol SharedKey: Hashable, Sendable {
  /// What the form of the bytes is called: one word. Dictionaries whose keys have another form are of another type.
  static var keyForm: String { get }
  /// Calls `body` with the key's bytes, valid during the call.
  func withElementKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R
  /// A key from its bytes; nil if they are none.
  init?(keyBytes: UnsafeRawBufferPointer)
}

extension SharedKey where Self: TableKey {
  @inlinable
  public func withElementKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe withKeyBytes(body)
  }
}

extension String: SharedKey {
  public static var keyForm: String { "string" }
  /// Nil for bytes that are not UTF-8.
  public init?(keyBytes: UnsafeRawBufferPointer) { unsafe self.init(tableBytes: keyBytes) }
}

extension Array: SharedKey where Element == UInt8 {
  public static var keyForm: String { "bytes" }
  /// A key from the bytes that lie in the table; nil if they are none.
  public init?(keyBytes: UnsafeRawBufferPointer) { unsafe self.init(keyBytes) }
}

extension SharedKey where Self: FixedWidthInteger {
  public static var keyForm: String { "integer" }

  public func withElementKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe String(self).withKeyBytes(body)
  }

  /// Nil unless it is decimal text as this type writes it: "+1" and "01" would name the same number twice.
  public init?(keyBytes: UnsafeRawBufferPointer) {
    let text = unsafe String(decoding: keyBytes, as: UTF8.self)
    guard let value = Self(text), String(value) == text else { return nil }
    self = value
  }
}

extension Int: SharedKey {}
extension Int64: SharedKey {}
extension Int32: SharedKey {}
extension Int16: SharedKey {}
extension Int8: SharedKey {}
extension UInt: SharedKey {}
extension UInt64: SharedKey {}
extension UInt32: SharedKey {}
extension UInt16: SharedKey {}
extension UInt8: SharedKey {}

extension SharedKey where Self: RawRepresentable, RawValue: SharedKey {
  public static var keyForm: String { RawValue.keyForm }

  public func withElementKey<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe rawValue.withElementKey(body)
  }

  /// A key from the bytes that lie in the table; nil if they are none, or if the type's own initialiser makes a key of them that is written
  /// otherwise: that would name another element.
  public init?(keyBytes: UnsafeRawBufferPointer) {
    guard let rawValue = unsafe RawValue(keyBytes: keyBytes) else { return nil }
    self.init(rawValue: rawValue)
    guard unsafe withElementKey({ unsafe $0.elementsEqual(keyBytes) }) else { return nil }
  }
}

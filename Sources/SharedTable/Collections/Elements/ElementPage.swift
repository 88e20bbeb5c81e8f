import Glibc

/// A page of an ``ElementIndex``: the keys of some elements, in no order.
///
/// ```
/// { length u32 | key }…
/// ```
struct ElementPage: TableValue {
  private var bytes: [UInt8] = []
  /// So much of a listing is added without another copy of the page.
  private static var spareBytes: Int { 64 }
  /// Differs from what is stored.
  private(set) var isChanged = false

  static var tableType: ValueType { .structure }
  static let tableFingerprint = Fingerprint.named("SharedTable.ElementPage")

  /// Empty.
  init(isChanged: Bool = false) { self.isChanged = isChanged }

  /// Nil if the bytes are no page.
  init?(tableBytes: UnsafeRawBufferPointer) {
    var rest = 0
    while rest < tableBytes.count {
      guard rest + 4 <= tableBytes.count else { return nil }
      rest += unsafe Self.byteCount(Int(tableBytes.loadUnaligned(fromByteOffset: rest, as: UInt32.self)))
    }
    guard rest == tableBytes.count else { return nil }
    bytes.reserveCapacity(tableBytes.count + Self.spareBytes)
    unsafe bytes.append(contentsOf: tableBytes)
  }

  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe bytes.withTableBytes(body)
  }

  /// What the listing of a key of this length takes.
  static func byteCount(_ keyLength: Int) -> Int { 4 + keyLength }

  var isEmpty: Bool { bytes.isEmpty }

  /// Visits the keys until `body` returns false.
  /// - Returns: whether it never did.
  @discardableResult
  func forEach<E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> Bool) throws(E) -> Bool {
    try unsafe bytes.withKeyBytes { bytes throws(E) in
      var rest = 0
      while rest < bytes.count {
        let length = unsafe Int(bytes.loadUnaligned(fromByteOffset: rest, as: UInt32.self))
        guard try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[rest + 4..<rest + 4 + length])) else {
          return false
        }
        rest += Self.byteCount(length)
      }
      return true
    }
  }

  func contains(_ key: UnsafeRawBufferPointer) -> Bool { unsafe offset(of: key) != nil }

  mutating func append(_ key: UnsafeRawBufferPointer) {
    unsafe withUnsafeBytes(of: UInt32(key.count)) { unsafe bytes.append(contentsOf: $0) }
    unsafe bytes.append(contentsOf: key)
    isChanged = true
  }

  /// - Returns: whether it was there.
  mutating func remove(_ key: UnsafeRawBufferPointer) -> Bool {
    guard let offset = unsafe offset(of: key) else { return false }
    bytes.removeSubrange(offset..<offset + Self.byteCount(key.count))
    isChanged = true
    return true
  }

  private func offset(of key: UnsafeRawBufferPointer) -> Int? {
    unsafe bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count {
        let length = unsafe Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        if length == key.count, unsafe Self.isEqual(key, bytes.baseAddress! + offset + 4) { return offset }
        offset += Self.byteCount(length)
      }
      return nil
    }
  }

  /// Whether the key's bytes are there. Most of a program's keys differ in their last byte, which needs no call.
  @inline(__always)
  private static func isEqual(_ key: UnsafeRawBufferPointer, _ other: UnsafeRawPointer) -> Bool {
    guard let last = unsafe key.last else { return true }
    return unsafe other.load(fromByteOffset: key.count - 1, as: UInt8.self) == last
      && memcmp(other, key.baseAddress!, key.count) == 0
  }
}

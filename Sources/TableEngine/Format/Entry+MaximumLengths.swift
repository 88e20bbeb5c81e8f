import CShims

/// How many bytes an entry's key and value may have.
extension Entry {
  @usableFromInline static let maximumKeyLength = SHM_KEY_BYTES_AT_MOST

  /// Whether a key may have so many bytes: at least it has one.
  @inlinable @inline(__always)
  static func isKeyLength(_ length: Int) -> Bool { UInt(bitPattern: length &- 1) < UInt(bitPattern: maximumKeyLength) }

  /// The longest value that a table of this capacity takes: a quarter of it, and no more than the largest block, which is of 4 GiB, has room for
  /// behind a header with expiry and fingerprint, the longest key and padding.
  static func maximumValueLength(capacityBytes: Int) -> Int {
    min(capacityBytes / 4, BlockRef.maximumByteCount - headerBytes - 16 - maximumKeyLength - 16)
  }

  @inline(__always)
  static func check(keyLength: Int) throws(EngineError) {
    guard isKeyLength(keyLength) else { throw .keyLength(keyLength) }
  }

  /// - Parameter maximum: the table's.
  @inline(__always)
  static func check(valueLength: Int, maximum: Int) throws(EngineError) {
    guard valueLength <= maximum else { throw .valueTooLarge(valueLength, maximum: maximum) }
  }
}

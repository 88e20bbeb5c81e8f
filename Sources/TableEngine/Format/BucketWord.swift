import CShims

/// A word of a bucket: tag in the upper 16 bits, the newest entry's offset in the lower 48.
@usableFromInline
enum BucketWord {
  @usableFromInline static let empty: UInt64 = 0
  /// Held a key once. Searches go on past it, insertions may use it.
  @usableFromInline static let deleted = UInt64(SHM_TAG_DELETED) << UInt64(SHM_OFFSET_BITS)
  @usableFromInline static let offsetMask: UInt64 = (1 << UInt64(SHM_OFFSET_BITS)) - 1

  /// Tags 0 and 1 mean *empty* and *deleted*: one of the 16 bits is always set.
  @inlinable @inline(__always)
  static func tag(hash: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: hash >> UInt64(SHM_TAG_HASH_SHIFT)) & 0xffff | UInt32(SHM_TAG_ALWAYS)
  }

  @inlinable @inline(__always)
  static func make(tag: UInt32, offset: Int) -> UInt64 { UInt64(tag) << UInt64(SHM_OFFSET_BITS) | UInt64(offset) }

  /// For another entry of the key that a live word names.
  @inline(__always)
  static func make(sameTagAs word: UInt64, offset: Int) -> UInt64 { word & ~offsetMask | UInt64(offset) }

  @inlinable @inline(__always)
  static func offset(_ word: UInt64) -> Int { Int(word & offsetMask) }

  /// Neither empty nor deleted: deleted words have the offset 0.
  @inlinable @inline(__always)
  static func namesEntry(_ word: UInt64) -> Bool { word & offsetMask != 0 }
}

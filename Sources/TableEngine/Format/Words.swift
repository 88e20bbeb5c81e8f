/// A word of a bucket: tag in the upper 16 bits, the newest entry's offset in the lower 48.
@usableFromInline
enum BucketWord {
  @usableFromInline static let empty: UInt64 = 0
  /// Held a key once. Searches go on past it, insertions may use it.
  @usableFromInline static let deleted: UInt64 = 1 << 48
  @usableFromInline static let offsetMask: UInt64 = (1 << 48) - 1

  /// Tags 0 and 1 mean *empty* and *deleted*: one of the 16 bits is always set.
  @inlinable @inline(__always)
  static func tag(hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 8) & 0xffff | 2 }

  @inlinable @inline(__always)
  static func make(tag: UInt32, offset: Int) -> UInt64 { UInt64(tag) << 48 | UInt64(offset) }

  @inlinable @inline(__always)
  static func offset(_ word: UInt64) -> Int { Int(word & offsetMask) }

  /// Neither empty nor deleted: deleted words have the offset 0.
  @inlinable @inline(__always)
  static func isLive(_ word: UInt64) -> Bool { word & offsetMask != 0 }
}

/// A word of the directory: a sub-table or, below the root, a node of 2^k further words.
///
/// ```
/// 63    62    61..56                         47..0
/// node  deep  k (node) or local depth        offset
/// ```
@frozen @usableFromInline
struct DirectoryWord {
  @usableFromInline let raw: UInt64

  @inlinable @inline(__always)
  init(_ raw: UInt64) { self.raw = raw }

  @inlinable
  init(subTable offset: Int, depth: Int, deep: Bool = false) {
    raw = UInt64(offset) | UInt64(depth) << 56 | (deep ? 1 << 62 : 0)
  }

  @inlinable
  init(node offset: Int, bits: Int) { raw = UInt64(offset) | UInt64(bits) << 56 | 1 << 63 }

  @inlinable @inline(__always) var offset: Int { Int(raw & BucketWord.offsetMask) }
  @inlinable @inline(__always) var isNode: Bool { raw >> 63 != 0 }
  @inlinable @inline(__always) var isDeep: Bool { raw & (1 << 62) != 0 }
  @inlinable @inline(__always) var bits: Int { Int(raw >> 56) & 63 }

  /// Of a node: which of its words is a hash's.
  @inlinable @inline(__always)
  func index(ofHash hash: UInt64) -> Int { Int((hash << UInt64(DataLayout.rootBits)) >> UInt64(64 &- bits)) }
  /// Of a node: where that word lies.
  @inlinable @inline(__always)
  func place(ofHash hash: UInt64) -> Int { offset &+ index(ofHash: hash) &* 8 }
}

/// Names a block of memory: offset / 16 in the upper 44 bits, size code in the lower 20.
///
/// Codes below 64 are size classes; 64 + n is a run of n frames.
@frozen @usableFromInline
struct BlockRef: Equatable {
  @usableFromInline let raw: UInt64

  @inlinable @inline(__always)
  init(raw: UInt64) { self.raw = raw }

  @inlinable @inline(__always)
  init(offset: Int, code: Int) { raw = UInt64(offset >> 4) << 20 | UInt64(code) }

  @inlinable @inline(__always) var offset: Int { Int(raw >> 20) << 4 }
  @inlinable @inline(__always) var code: Int { Int(raw & 0xfffff) }
  var byteCount: Int { SizeClasses.byteCount(code: code) }
}

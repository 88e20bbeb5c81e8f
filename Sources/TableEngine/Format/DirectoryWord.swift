import CShims

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
    raw = UInt64(offset) | UInt64(depth) << Self.bitsShift | (deep ? Self.deep : 0)
  }

  @inlinable
  init(node offset: Int, bits: Int) { raw = UInt64(offset) | UInt64(bits) << Self.bitsShift | Self.node }

  @usableFromInline static let bitsShift = UInt64(SHM_DIRECTORY_BITS_SHIFT)
  @usableFromInline static let deep: UInt64 = 1 << UInt64(SHM_DIRECTORY_DEEP_BIT)
  @usableFromInline static let node: UInt64 = 1 << UInt64(SHM_DIRECTORY_NODE_BIT)

  @inlinable @inline(__always) var offset: Int { Int(raw & BucketWord.offsetMask) }
  @inlinable @inline(__always) var isNode: Bool { raw & Self.node != 0 }
  @inlinable @inline(__always) var isDeep: Bool { raw & Self.deep != 0 }
  @inlinable @inline(__always) var bits: Int { Int(raw >> Self.bitsShift) & 63 }

  /// Whether bits are set that no writer sets. Readers do not look at them.
  var hasImpossibleBits: Bool { raw >> 48 & 0xff != 0 || isNode && isDeep }

  /// Of a node: the memory that its words take.
  @inlinable @inline(__always) var nodeByteCount: Int { Self.nodeByteCount(bits: bits) }
  @inlinable @inline(__always) static func nodeByteCount(bits: Int) -> Int { 8 &<< bits }

  /// Of a node: which of its words is a hash's.
  @inlinable @inline(__always)
  func index(ofHash hash: UInt64) -> Int { Int((hash << UInt64(DataLayout.rootBits)) >> UInt64(64 &- bits)) }
  /// Of a node: where that word lies.
  @inlinable @inline(__always)
  func place(ofHash hash: UInt64) -> Int { offset &+ index(ofHash: hash) &* 8 }
}

import CShims

/// Names a block of memory: offset / 16 in the upper 40 bits, size code in the lower 24.
///
/// Codes below 64 are size classes; 64 + n is a run of n frames.
@frozen @usableFromInline
struct BlockRef: Comparable {
  @usableFromInline let raw: UInt64

  @inlinable @inline(__always)
  init(raw: UInt64) { self.raw = raw }

  @inlinable @inline(__always)
  init(offset: Int, code: Int) { raw = UInt64(offset >> 4) << UInt64(SHM_BLOCK_CODE_BITS) | UInt64(code) }

  @inlinable @inline(__always) var offset: Int { Int(raw >> UInt64(SHM_BLOCK_CODE_BITS)) << 4 }
  @inlinable @inline(__always) var code: Int { Int(truncatingIfNeeded: raw) & Self.codeMask }
  var byteCount: Int { SizeClasses.byteCount(code: code) }

  /// By where they lie.
  @inlinable @inline(__always)
  static func < (one: BlockRef, other: BlockRef) -> Bool { one.raw < other.raw }

  @usableFromInline static let codeMask = (1 << SHM_BLOCK_CODE_BITS) - 1

  /// The largest block: what a value whose length has 32 bits may need. The size code could name four times as much.
  static let maximumByteCount = 1 << 32
}

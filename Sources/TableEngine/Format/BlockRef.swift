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

  /// The largest block that the size code can name.
  static let maximumByteCount = SizeClasses.byteCount(code: 0xfffff)
}

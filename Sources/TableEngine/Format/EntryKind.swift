/// The upper half of an entry's third word, which says at once whether the entry is as most are.
@frozen @usableFromInline
struct EntryKind {
  @usableFromInline let raw: UInt32

  @inlinable @inline(__always)
  init(raw: UInt32) { self.raw = raw }

  /// A key of this length, and a value of this type (nil: of any) right behind it: no tombstone, expiry, fingerprint or
  /// padding.
  @inlinable @inline(__always)
  func isPlain(keyLength: Int, type: UInt8?) -> Bool {
    let length = UInt32(truncatingIfNeeded: keyLength &- 1)
    guard let type else { return raw & 0xff_ffff == length }
    return raw == length | UInt32(type) << 24
  }
}

import CShims

/// Where a tombstone's bucket word was when it was stored, in one word of the tombstone's ring record:
///
/// ```
/// 63                           12 11                  1 0
/// upper bits of the key's hash    word of its sub-table SHM_RING_TOMBSTONE
/// ```
///
/// The directory goes by the hash's upper bits, so the hint leads to a word of the sub-table that there is now. After a
/// split, a merge or a rebuild that may be another key's word, or none's. So ``Lookup/word(of:at:)`` proves each hint,
/// and one that knows nothing does no harm.
struct TombstoneHint {
  let raw: UInt64

  init(raw: UInt64) { self.raw = raw }

  /// Of a key that was found.
  @inline(__always)
  init(hash: UInt64, _ location: Location) {
    let offset = UInt64(truncatingIfNeeded: location.place &- location.subTable)
    raw = hash & ~Self.lowBits | offset >> 2 | UInt64(SHM_RING_TOMBSTONE)
  }

  static let unknown = TombstoneHint(raw: UInt64(SHM_RING_TOMBSTONE))

  private static let lowBits: UInt64 = (1 << 12) - 1

  /// The hash as far as the directory goes by it. The lower 12 bits are not the key's.
  @inline(__always)
  var hash: UInt64 { raw }

  /// Of the word in its sub-table, in bytes: 2,048 words of eight.
  @inline(__always)
  var offset: Int { Int(truncatingIfNeeded: raw << 2 & (Self.lowBits << 2 & ~7)) }
}

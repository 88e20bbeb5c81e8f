import CShims

/// What a slot's snapshot and pin words say. Versions stay below 2^61.
///
/// A pending reader announces a bare version, since that is what every single read stores. A reader that has fixed its
/// snapshot adds `exact`, and a writer that evicts it adds `evicted`.
@usableFromInline
enum SlotWord {
  @usableFromInline static let idle = UInt64.max
  @usableFromInline static let exact: UInt64 = 1 << UInt64(SHM_SNAPSHOT_EXACT_BIT)
  static let evicted: UInt64 = 1 << UInt64(SHM_SNAPSHOT_EVICTED_BIT)
  static let versionMask = evicted - 1

  static func isPending(_ snapshot: UInt64) -> Bool { snapshot & exact == 0 }
  static func isExact(_ snapshot: UInt64) -> Bool { snapshot & (exact | evicted) == exact }
  static func isEvicted(_ snapshot: UInt64) -> Bool { snapshot != idle && snapshot & evicted != 0 }

  /// The oldest version that a slot's two words keep; `idle` if none.
  static func oldest(_ snapshot: UInt64, _ pin: UInt64) -> UInt64 {
    min(snapshot == idle ? idle : snapshot & versionMask, pin)
  }

  /// Which announcement it is, to know it again: the pin, or of a slot without one its version; `idle` if there is none. Uses of one long
  /// snapshot have its version in common, and each its own pin.
  static func announcement(_ snapshot: UInt64, _ pin: UInt64) -> UInt64 {
    pin != idle || snapshot == idle ? pin : snapshot & versionMask
  }
}

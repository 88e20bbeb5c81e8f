import CShims

/// What a slot is for, for people who look at it.
enum SlotPurpose {
  static let thread = UInt64(SHM_SLOT_THREAD)
  static let snapshot = UInt64(SHM_SLOT_SNAPSHOT)
  static let presence = UInt64(SHM_SLOT_PRESENCE)
}

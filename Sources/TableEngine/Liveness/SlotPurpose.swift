/// What a slot is for, for people who look at it.
enum SlotPurpose {
  static let thread: UInt64 = 0
  static let snapshot: UInt64 = 1
  static let presence: UInt64 = 2
}

/// Fields of the journal's header, from ``ControlLayout/journal``.
enum JournalLayout {
  static let version = 0
  static let count = 8
  static let limboTail = 16
  static let limboBytes = 24
  static let supersededTail = 32
  static let supersededHeadAfter = 40
  static let retainedTail = 48
  static let retainedHeadAfter = 56
  static let logEndPosition = 64
  static let logEndOrdinal = 72
  static let garbageBytes = 80
  static let recordBytes = 16
}

import CShims

/// A slot's rw word: 0, or generation and state.
enum RWWord {
  static let idle: UInt64 = 0
  private static let shift = UInt64(SHM_RW_GENERATION_SHIFT)
  static func intent(_ generation: UInt64) -> UInt64 { generation << shift | UInt64(SHM_RW_INTENT) }
  static func held(_ generation: UInt64) -> UInt64 { generation << shift | UInt64(SHM_RW_HELD) }
  static func generation(_ word: UInt64) -> UInt64 { word >> shift }
}

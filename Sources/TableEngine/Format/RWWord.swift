/// A slot's rw word: 0, or generation and state.
enum RWWord {
  static let idle: UInt64 = 0
  static func intent(_ generation: UInt64) -> UInt64 { generation << 2 | 1 }
  static func held(_ generation: UInt64) -> UInt64 { generation << 2 | 2 }
  static func generation(_ word: UInt64) -> UInt64 { word >> 2 }
}

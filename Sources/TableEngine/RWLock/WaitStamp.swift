import CShims

/// A slot's `wait` word: 0, or the count of barriers that had ended when its thread began to wait, plus 1. The top bit says
/// that a writer waited for this reader in vain: no writer waits for the same stamp twice.
enum WaitStamp {
  private static let givenUpBit: UInt64 = 1 << UInt64(SHM_WAIT_GIVEN_UP_BIT)

  static func isGivenUp(_ stamp: UInt64) -> Bool { stamp & givenUpBit != 0 }
  static func givenUp(_ stamp: UInt64) -> UInt64 { stamp | givenUpBit }
  static func barriersEnded(_ stamp: UInt64) -> UInt64 { (stamp & ~givenUpBit) &- 1 }
}

import CShims

/// The word that names the foremost of those who wait for the writer lock: 0, or
///
/// ```
///   63                          18    17       16      15          0
///   [ `turns` when its wait began ][ due ][ sleepers ][ slot + 1 ]
/// ```
/// Without a slot it stands for those who were woken when the last foremost waiter went: one of them takes its place.
struct ForemostWaiterWord {
  let word: UInt64

  private static let slotMask: UInt64 = 1 << UInt64(SHM_FOREMOST_SLOT_BITS) - 1
  private static let sleepersBit: UInt64 = 1 << UInt64(SHM_FOREMOST_SLEEPERS_BIT)
  private static let dueBit: UInt64 = 1 << UInt64(SHM_FOREMOST_DUE_BIT)
  private static let sinceShift = UInt64(SHM_FOREMOST_SINCE_SHIFT)

  static let none = ForemostWaiterWord(word: 0)

  init(word: UInt64) { self.word = word }

  init(slot: Int, since turn: UInt64, isDue: Bool) {
    word = turn << Self.sinceShift | (isDue ? Self.dueBit : 0) | UInt64(slot) + 1
  }

  /// A place that is kept for the woken threads: nobody has it yet.
  init(vacantSince turn: UInt64) { word = turn << Self.sinceShift }

  /// The waiter's slot; nil while nobody has the place.
  var slot: Int? { isVacant ? nil : Int(word & Self.slotMask) - 1 }
  var isNone: Bool { word == 0 }
  var isVacant: Bool { word & Self.slotMask == 0 }
  /// Others sleep until the word changes.
  var hasSleepers: Bool { word & Self.sleepersBit != 0 }
  /// It has waited for a slice: now all others go after it, however few turns they have had.
  var isDueByTime: Bool { word & Self.dueBit != 0 }

  func withSleepers(_ hasSleepers: Bool = true) -> ForemostWaiterWord {
    ForemostWaiterWord(word: hasSleepers ? word | Self.sleepersBit : word)
  }

  /// One and the same wait: of the same thread, begun at the same turn.
  func isSameWait(as other: ForemostWaiterWord) -> Bool {
    (word ^ other.word) & ~(Self.sleepersBit | Self.dueBit) == 0
  }

  /// How many turns others have had since its wait began; turns are counted modulo 2^46.
  func turnsPassed(at turns: UInt64) -> Int64 {
    Int64(bitPattern: (turns << Self.sinceShift) &- (word & (UInt64.max << Self.sinceShift))) >> Int64(Self.sinceShift)
  }

  /// Does it come after a wait that began at this turn?
  func isYounger(than turn: UInt64) -> Bool {
    let passed = turnsPassed(at: turn)
    return passed < 0 || passed == 0 && isVacant
  }
}

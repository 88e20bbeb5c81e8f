/// What the readers announced, as seen in one pass over the slots after HEAVY.
struct ReaderScan {
  /// Lowest version that a pending reader may yet take; none below it may be unlinked from newer ones.
  var lowestPending = UInt64.max
  /// Snapshots in use, exactly.
  var exact: [UInt64] = []
  /// Lowest stamp that a pin or pending reader protects from reuse.
  var lowestPin = UInt64.max
  /// Slot of the oldest announcement, for errors and `stat`.
  var oldestSlot: Int?
  private var oldestVersion = UInt64.max

  /// Takes in one slot's words; `snapshot` was loaded before `pin`.
  mutating func add(slot: Int, snapshot: UInt64, pin: UInt64) {
    if snapshot != SlotWord.idle {
      let version = snapshot & SlotWord.versionMask
      if SlotWord.isPending(snapshot) {
        lowestPending = min(lowestPending, version)
        lowestPin = min(lowestPin, version)
        noteOldest(slot, version)
      } else if SlotWord.isExact(snapshot) || Self.protects(pin) {
        exact.append(version)
        noteOldest(slot, version)
      }
    }
    if pin != SlotWord.idle {
      lowestPin = min(lowestPin, pin)
      noteOldest(slot, pin)
    }
  }

  /// Whether a pin makes an evicted snapshot's versions needed all the same.
  private static func protects(_ pin: UInt64) -> Bool {
    return pin != SlotWord.idle
  }

  private mutating func noteOldest(_ slot: Int, _ version: UInt64) {
    if version < oldestVersion {
      oldestVersion = version
      oldestSlot = slot
    }
  }

  enum Need { case none, snapshot, pending }

  /// Who may still need version `x` of a key whose next newer retained version is `newer`.
  func need(of x: UInt64, newer: UInt64) -> Need {
    for snapshot in exact where x <= snapshot && snapshot < newer { return .snapshot }
    return newer > lowestPending ? .pending : .none
  }

  /// Changes whenever the set of exact snapshots does (but for collisions, which only delay a rescan). Never 0.
  var signature: UInt64 {
    var hash: UInt64 = 0x9e37_79b9_7f4a_7c15
    for snapshot in exact.sorted() { hash = (hash ^ snapshot) &* 0x0000_0100_0000_01b3 }
    return hash | 1
  }
}

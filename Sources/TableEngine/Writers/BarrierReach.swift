/// What a barrier may change, and so whose key locks it waits for.
@safe
public enum BarrierReach {
  /// Everything: waits for all key locks.
  case table
  /// One key, and nothing below it: waits for the key locks that cover it.
  case key(UnsafeRawBufferPointer)
  /// One key and all that begin with it and a slash: waits for the key locks of any of these, and of what they lie below.
  case subtree(UnsafeRawBufferPointer)
  /// Keys to be locked, for a section that outlives the ownership of W.
  case keys(LockedKeys)
  /// What its thread has locked already.
  case lockedKeys
  /// Keys that no section has locked: the barrier asks for each key, and waits for none.
  case unlockedKeys

  @inline(__always)
  var locksKeys: Bool {
    if case .keys = self { return true }
    return false
  }

  @inline(__always)
  var isWholeTable: Bool {
    if case .table = self { return true }
    return false
  }

  /// Nil if no key lock can be in the way.
  func request(slot: Int, seed: UInt64) -> KeyLocks.Request? {
    switch self {
    case .table: KeyLocks.Request(slot: slot, keys: .table, isToHold: false)
    case .key(let key): KeyLocks.Request(slot: slot, keys: unsafe LockedKeys(writing: key, seed: seed), isToHold: false)
    case .subtree(let key):
      KeyLocks.Request(slot: slot, keys: unsafe LockedKeys(locking: key, seed: seed), isToHold: false)
    case .keys(let keys): KeyLocks.Request(slot: slot, keys: keys, isToHold: true)
    case .lockedKeys, .unlockedKeys: nil
    }
  }
}

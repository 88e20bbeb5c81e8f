import SharedMemory

/// Whether a slot's thread lives: its robust mutex says so, which the kernel marks when the thread ends. Whoever finds a dead
/// one clears the slot, so that what it announced protects nothing any more.
extension Slots {
  /// Clears the slot if its thread is dead.
  /// - Returns: whether it was.
  func clearIfDead(_ index: Int) -> Bool {
    let mutex = mutex(index)
    switch mutex.tryLock() {
    case .acquired:
      reset(index)
    case .acquiredOwnerDied:
      reap(index)
      try? mutex.markConsistent()
    default:
      return false
    }
    try? mutex.unlock()
    return true
  }

  /// Clears the slot of a dead thread, whose mutex we have: what it announced protects nobody any more. What it held
  /// of the rwlock is held for ever; that is noted before the slot forgets it (rw-reap, at RWExclusion.raiseAbandoned).
  func reap(_ index: Int) {
    let word = ctl.loadAcquire(offset(index) + SlotLayout.rw)
    if word != RWWord.idle { RWExclusion.raiseAbandoned(ctl, to: RWWord.generation(word) + 1) }
    reset(index)
  }

  /// A living thread that relies on membarrier; its slot's number. Called after a sequentially consistent fence.
  func lightReader() -> Int? {
    (0..<highWater).first { ctl.loadAcquire(offset($0) + SlotLayout.light) != 0 && !clearIfDead($0) }
  }
}

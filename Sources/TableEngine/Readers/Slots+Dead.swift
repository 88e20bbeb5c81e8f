import SharedMemory

/// Whether a slot's thread lives: its robust mutex says so, which the kernel marks when the thread ends. Whoever finds a dead
/// one clears the slot, so that what it announced protects nothing any more.
extension Slots {
  /// Whether a living thread holds the slot. A look only: a process that is stopped in the middle of it is in nobody's way.
  func isHeld(_ index: Int) -> Bool { !mutex(index).looksFree }

  /// Clears the slot if its thread is dead.
  ///
  /// For that it takes the slot's mutex for a moment. If the calling process is stopped in that moment, the slot counts as held until it
  /// goes on. So only those clear slots who wait for a dead thread to be out of the way; whoever reports asks ``isHeld(_:)``.
  /// - Returns: whether it was.
  func clearIfDead(_ index: Int) -> Bool { clearUnlessHeld(index).isAcquired }

  /// Clears the slots of all dead threads.
  /// - Returns: who they were, but for those that others are just clearing.
  func clearDead() -> [Holder] {
    (0..<highWater).compactMap { index in
      let thread = holder(index)
      return clearUnlessHeld(index) == .acquiredOwnerDied ? thread : nil
    }
  }

  /// - Returns: how its mutex was found.
  private func clearUnlessHeld(_ index: Int) -> LockResult {
    // A living thread's mutex is left in its cache.
    guard !isHeld(index) else { return .busy }
    let mutex = mutex(index)
    let found = mutex.tryLock()
    switch found {
    case .acquired:
      reset(index)
    case .acquiredOwnerDied:
      reap(index)
      try? mutex.markConsistent()
    default:
      return found
    }
    try? mutex.unlock()
    return found
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

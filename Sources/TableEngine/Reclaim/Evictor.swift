import CShims
import SharedMemory

/// Eviction: how a snapshot held too long is ended without ever showing wrong data (G7).
extension Writer {
  /// Bytes that readers keep from being reused: limbo, and superseded versions.
  var reclaimableBytes: Int { limbo.bytes &+ Int(clamping: ctl.loadRelaxed(ControlLayout.garbageBytes)) }

  /// Runs gc until it gains nothing more, or `passes` times.
  ///
  /// A pass that keeps its whole batch is not the end: what follows it may go.
  @discardableResult
  func collectAll(passes: Int = .max) -> Bool {
    var gained = false
    var idlePasses = (superseded.count + retained.count) / Self.gcBatch + 1
    var left = passes
    while left > 0 {
      left -= 1
      let position = superseded.head &+ retained.head
      if collect() {
        gained = true
        continue
      }
      idlePasses -= 1
      if idlePasses < 0 || superseded.head &+ retained.head == position { break }
    }
    return gained
  }

  /// Marks every old snapshot that no live pin protects as evicted; its owner's next operation fails with
  /// `snapshotTooOld`.
  ///
  /// PAIR evict-snapshot. Other end: ReadSection.enterSnapshot. The compare-and-swap and the HEAVY of the next scan
  /// order the mark before our look at pins: an operation that began before it is seen by its pin, one that begins
  /// after it sees the mark.
  func evictSnapshots() {
    let slots = Slots(ctl: ctl, count: geometry.slotCount)
    let committed = self.committed
    for index in 0..<slots.highWater {
      let word = slots.offset(index) + SlotLayout.snapshot
      let snapshot = ctl.loadAcquire(word)
      let isInUse = ctl.loadAcquire(slots.offset(index) + SlotLayout.pin) != SlotWord.idle
      guard SlotWord.isExact(snapshot), snapshot & SlotWord.versionMask < committed, !isInUse else { continue }
      _ = ctl.compareAndSwap(word, expected: snapshot, desired: SlotWord.evicted | snapshot)
    }
  }

  /// What stands in the way of gc, and who, for people.
  func whatKeepsMemory() -> EngineError.Shortage {
    let slots = Slots(ctl: ctl, count: geometry.slotCount)
    guard let (_, scan) = scanReaders() else { return .membarrier(slots.lightReader().map { slots.holder($0) }) }
    return .limbo(scan.oldestSlot.map { slots.stalledReader($0) })
  }
}

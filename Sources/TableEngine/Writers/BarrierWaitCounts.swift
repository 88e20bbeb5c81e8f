import SharedMemory

/// How many barriers found W free, how long the others waited for it, and the most turns of others that one waited for.
///
/// Stored by the owner of W alone, so by plain loads and stores; a death between the two costs a count. A thread that waited in
/// vain is never the owner, and is not counted.
struct BarrierWaitCounts {
  let ctl: MappedMemory

  @inline(__always)
  func countUnwaited() {
    ctl.storeRelaxed(ControlLayout.barriersUnwaited, ctl.loadRelaxed(ControlLayout.barriersUnwaited) &+ 1)
  }

  /// - Parameter turn: the count of turns when the wait began.
  func count(waitedNanoseconds: UInt64, since turn: UInt64) {
    let logarithm = UInt64.bitWidth - 1 - max(1, waitedNanoseconds).leadingZeroBitCount
    let bucket = Self.bucket(logarithm)
    ctl.storeRelaxed(bucket, ctl.loadRelaxed(bucket) &+ 1)
    let turns = ctl.loadRelaxed(ControlLayout.turns) &- turn
    if turns > ctl.loadRelaxed(ControlLayout.mostTurnsWaited) { ctl.storeRelaxed(ControlLayout.mostTurnsWaited, turns) }
  }

  /// While writers are at work, the figures may be of different moments.
  var now: Statistics.BarrierWaits {
    Statistics.BarrierWaits(
      none: ctl.loadRelaxed(ControlLayout.barriersUnwaited),
      byLogarithm: (0..<ControlLayout.barrierWaitBuckets).map { ctl.loadRelaxed(Self.bucket($0)) },
      mostTurns: ctl.loadRelaxed(ControlLayout.mostTurnsWaited))
  }

  /// The last bucket also counts all longer waits.
  private static func bucket(_ logarithm: Int) -> Int {
    ControlLayout.barrierWaits + min(logarithm, ControlLayout.barrierWaitBuckets - 1) * 8
  }
}

/// Reclaims in the RCU variant, for the owner of W, never inside an open barrier:
/// - a ``TombstonePass`` takes tombstones out of the index;
/// - an ``InPlacePass`` frees old versions that no reader can come to any more, while `prev` of a newer one still names
///   them;
/// - an ``UnlinkPass`` takes versions out of their chains that lie between those that a long snapshot needs;
/// - a ``FreePass`` frees what was unlinked.
///
/// Proof sketch of unlinking (of freeing in place and of settling: ``InPlacePass``, ``TombstonePass``):
/// 1. A reader announces a pending version e or a pin, and then loads `committed` a second time. HEAVY orders that
///    against our scan (I2): either the scan sees the announcement and honours it, or the reader's second load comes
///    after our load of C. Then its snapshot is at least C, and every unlink that it could meet was committed at a
///    stamp <= C, that is before the reader started.
/// 2. A version x is unlinked only if no announced snapshot lies in [x.version, newer.version) and no pending reader is
///    below newer.version.
/// 3. A block is freed only if its stamp is not above C, any live pin, or any pending e. A reader that could hold a
///    pointer to the block has announced something below the stamp, since the unlink came before `committed = stamp`
///    (I1).
///
/// The models in `Models/` check this with crashes between any two stores.
struct Collector {
  let state: WriterState

  /// Versions that must have piled up before a commit reclaims: HEAVY's cost is shared among them. It interrupts each processor that runs
  /// another process of the table, which takes as long as thirty to a hundred writes.
  static let threshold = 1024
  /// As ``threshold``, if this process's last pass found a reader in the way. As many as an ``UnlinkPass`` looks at: so passes come to what lies
  /// behind the versions that the reader keeps.
  static let thresholdHeldBack = UnlinkPass.batch
  /// As ``threshold``, if the versions come to ``bytesDue(_:)``.
  static let thresholdOfLarge = 128

  /// Bytes that make reclaiming due: of superseded versions that are fewer, and of limbo whatever their number, for old sub-tables are few and
  /// large. A quarter of ``sparedBytes``, because what lies between two passes may be kept for two more. In a table of less than 16 MiB a 64th of
  /// it, but no less than 64 KiB.
  static func bytesDue(_ geometry: Geometry) -> UInt64 {
    UInt64(min(sparedBytes / 4, max(64 << 10, geometry.capacityBytes / 64)))
  }

  /// As long as no more than this is kept, a pass after a commit leaves what it finds free to the next writes
  /// (``Recycler``). Beyond it, the pass frees the blocks, so that others than these writes can have them.
  static let sparedBytes = 1 << 20

  @inline(__always)
  var isDue: Bool {
    let superseded = state.superseded.tail &- state.ctl.loadRelaxed(ControlLayout.triedSuperseded)
    if superseded >= UInt64(Self.thresholdOfLarge) {
      if superseded >= UInt64(state.isHeldBack ? Self.thresholdHeldBack : Self.threshold) { return true }
      let bytes =
        state.ctl.loadRelaxed(ControlLayout.garbageBytes) &- state.ctl.loadRelaxed(ControlLayout.triedGarbageBytes)
      if bytes >= state.reclaimBytesDue { return true }
    }
    // Nothing was unlinked since: nearly always.
    let limbo = state.limbo.tail &- state.triedLimboTail
    if limbo == 0 { return false }
    return limbo >= UInt64(Self.threshold)
      || state.limbo.bytesPushed &- state.triedLimboBytes >= state.reclaimBytesDue
  }

  /// Looks at the readers once, and unlinks and frees what none of them stands in the way of.
  ///
  /// - Parameter sparing: of a pass after a commit. Unless much is kept, the pass leaves the versions that it finds
  ///   free to the next writes, which take their blocks (``Recycler``). The next pass frees those that no write took.
  ///   Versions behind them that must be unlinked wait as long, and count as kept.
  /// - Returns: whether anything was unlinked or freed.
  @discardableResult
  func collect(sparing: Bool = false) -> Bool {
    guard state.variant == .rcu, !state.inTransaction, let scan = ReaderScan.take(state) else { return false }
    state.forgetRoom()
    state.raiseReclaimed(scan.committed)
    let sparing = sparing && LimboBudget(state: state).garbageBytes <= UInt64(Self.sparedBytes)
    let inPlace = InPlacePass(state: state)
    inPlace.raiseCut(scan)
    let (settled, hasMoreToSettle) = TombstonePass(state: state).run(scan)
    let freedInPlace = inPlace.run(scan, sparing: sparing)
    // A settled tombstone may be freed only when a version above the scan's C exists. A pass that wants room makes an empty version for it. A sparing
    // pass leaves that to the next commit. The tombstone may be from an earlier pass, so this is asked of the ring and not of what was settled now.
    let makesVersion = !sparing && waitsForVersion
    if makesVersion { CommitPoint(state: state).publishTick() }
    state.isHeldBack = !(sparing && Recycler(state: state).hasStock) && (state.retained.count > 0 || isHeldBack(scan))
    var unlinkPass = UnlinkPass(state, scan)
    let unlinked = state.isHeldBack ? unlinkPass.run() : 0
    let freed = FreePass(state: state).run(scan)
    let isUnfinished = hasMoreToSettle || freedInPlace >= InPlacePass.batch || unlinked >= UnlinkPass.batch
    let gained = freedInPlace + settled + unlinked > 0
    noteTried(everything: !gained || !isUnfinished && sparing, isLimboTried: freed < FreePass.batch)
    return makesVersion || gained || freed > 0
  }

  /// What a stalled reader holds back is not tried again until as much has come on top; nor is what was spared.
  /// - Parameters:
  ///   - everything: of what was superseded; else what is left of it is tried again.
  ///   - isLimboTried: likewise of limbo.
  private func noteTried(everything: Bool, isLimboTried: Bool) {
    state.ctl.storeRelaxed(
      ControlLayout.triedSuperseded, everything ? state.superseded.tail : state.superseded.head)
    state.ctl.storeRelaxed(
      ControlLayout.triedGarbageBytes,
      everything ? state.ctl.loadRelaxed(ControlLayout.garbageBytes) : state.superseded.bytesPopped)
    let limbo = state.limbo
    state.triedLimboTail = isLimboTried ? limbo.tail : limbo.head
    state.triedLimboBytes = isLimboTried ? limbo.bytesPushed : limbo.bytesPopped
  }

  /// Is the oldest superseded version a tombstone that was settled since the last commit? A stamp beyond the next version would be damage,
  /// which no number of versions comes up to.
  private var waitsForVersion: Bool {
    let superseded = state.superseded
    return superseded.count > 0 && superseded.stamp(superseded.head) == state.committed &+ 1
  }

  /// Does a reader keep the oldest superseded version? No reader keeps a tombstone that ``waitsForVersion``.
  private func isHeldBack(_ scan: ReaderScan) -> Bool {
    let superseded = state.superseded
    guard superseded.count > 0 else { return false }
    let stamp = superseded.stamp(superseded.head)
    return stamp > state.recyclableUpTo && (stamp <= scan.committed || stamp == SupersededRing.unsettled)
  }

  /// Frees what may be freed, in either variant; in the rwlock variant with readers kept out.
  ///
  /// What was just moved lies behind all else in limbo, so this goes on after a full batch.
  /// - Parameter passes: the most of them, in the RCU variant.
  static func reclaim(_ state: WriterState, passes: Int = .max) {
    if state.variant == .rcu {
      var (left, head) = (passes, UInt64(0))
      repeat {
        head = state.limbo.head
        Collector(state: state).collect()
        left -= 1
      } while left > 0 && state.limbo.head &- head >= UInt64(FreePass.batch)
    } else {
      _ = FreePass(state: state).runWithoutReaders()
    }
  }

  /// Collects until that gains nothing more, or `passes` times, or as long as it `isNeeded`.
  ///
  /// A pass that retains its whole batch is not the end: what follows it may go.
  @discardableResult
  func collectAll(passes: Int = .max, while isNeeded: () -> Bool = { true }) -> Bool {
    var gained = false
    var idlePasses = (state.superseded.count + state.retained.count) / UnlinkPass.batch + 1
    var left = passes
    while left > 0, isNeeded() {
      left -= 1
      let position = state.superseded.head &+ state.retained.head
      if collect() {
        gained = true
        continue
      }
      idlePasses -= 1
      if idlePasses < 0 || state.superseded.head &+ state.retained.head == position { break }
    }
    return gained
  }
}

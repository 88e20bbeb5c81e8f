import CShims
import Glibc
import SharedMemory

/// Gives memory back to the system: units at the table's end that it can do without, and what the journal and the rings have
/// grown by.
///
/// For the owner of W outside a transaction, after a collection; in the rwlock variant with readers kept out. What one call
/// moves is bounded: a table shrinks in many calls.
///
/// The order is: nothing in use lies there, so that no reader can come there any more; `units` and `published_bytes`
/// say so; a tick; the threads that look at memory without W (``ReaderCosts``), and began before the tick, are waited
/// for; the pages go. A death on the way leaves pages that do not count, which the next call finds by the data object's size
/// in memory, and behind what journal and rings use. Growth claims the pages again before it counts them.
struct Shrinker {
  let state: WriterState
  let observers: ObserverLock

  /// Bytes moved in one call, but for the last block of them.
  private static let movedBytesPerCall = 256 << 10
  /// A longer block is not moved: writers would wait while it is copied, some milliseconds for one of this length. It keeps the units before it.
  private static let longestBlock = 16 << 20
  /// Calls of the merger in one of ours, each of which looks at 64 sub-tables.
  private static let mergesPerCall = 4
  /// Units dropped in one call.
  private static let unitsPerCall = 64
  /// How often readers in flight are waited for, and how long each time.
  private static let waitsPerCall = 40
  private static let waitNanoseconds: UInt64 = 50_000

  private var allocator: Allocator { state.allocator }
  private var geometry: Geometry { state.geometry }
  private var backing: BackingPages { state.backing }

  /// - Parameter usedBytes: ``Allocator/usedBytes`` of a moment ago. Counting them grows with the table, so it is not done
  ///   under W.
  /// - Returns: what was given back, and whether another call would go on.
  func run(usedBytes: Int) -> IdleMaintenance.Shrinking {
    var outcome = IdleMaintenance.Shrinking()
    guard state.ctl.loadRelaxed(ControlLayout.keepsMemory) == 0, !observers.isObserved else { return outcome }
    // First: an empty sub-table below a node is not moved, but merged with the one beside it.
    let isMerging = mergeSubTables()
    let spareUnits = spareUnits(usedBytes: usedBytes)
    let isEmpty = spareUnits > 0 && empty(lastUnit, &outcome)
    outcome.isUnfinished = outcome.isUnfinished || isMerging
    guard isEmpty || hasUncountedPages || isAnyTooLarge else { return outcome }
    outcome.bytesGivenBack =
      observers.exclude {
        // First: beside a reader that stays, each attempt would make a version in vain.
        guard awaitReaders() else { return 0 }
        if isEmpty {
          dropUnits(atMost: spareUnits)
          outcome.isUnfinished = true
        }
        let bookkeeping = bookkeepingSizes
        shrinkBookkeeping()
        guard awaitOnlookers() else {
          // Their pages are to be found by the next call.
          restore(bookkeeping)
          return 0
        }
        return givePagesBack()
      } ?? 0
    return outcome
  }

  /// - Returns: whether any were merged, so that those may be merged again.
  private func mergeSubTables() -> Bool {
    var merged = 0
    for _ in 0..<Self.mergesPerCall { merged += Compactor(state: state).mergeSubTables() }
    return merged > 0
  }

  // MARK: - The last units

  /// How many units the table can do without, so that what is in use fills no more than three quarters of the rest. The last
  /// quarter is for growing: what is given back costs its next user as much as it cost the first.
  private func spareUnits(usedBytes: Int) -> Int {
    let needed = usedBytes / 3 * 4 + Allocator.reservedSuperframes * SizeClasses.slabBytes
    return allocator.unitCount - max(1, (needed + Geometry.unitBytes - 1) / Geometry.unitBytes)
  }

  /// The last unit, and what will be the reserve of the one before it.
  private var lastUnit: FrameWindow {
    let first = (allocator.unitCount - 1) * Geometry.superframesPerUnit - Allocator.reservedSuperframes
    return FrameWindow(frames: first * Geometry.framesPerSuperframe..<allocator.unitCount * Geometry.framesPerUnit)
  }

  /// Moves what lies in the window to the units before; makes room there if there is none.
  /// - Returns: whether nothing is left in it.
  private func empty(_ window: FrameWindow, _ outcome: inout IdleMaintenance.Shrinking) -> Bool {
    let units = 0..<allocator.unitCount - 1
    var evacuation = Evacuation(state, window, units: units, longestBlock: Self.longestBlock)
    evacuation.moveAll(atMost: Self.movedBytesPerCall)
    var waitsLeft = evacuation.movedBytes > 0 ? Self.waitsPerCall : 0
    outcome.isUnfinished = evacuation.movedBytes > 0
    if let code = evacuation.missedCode {
      let isRoom = Compactor(state: state).makeRoomBeforeLastUnit(for: code, endingAt: window.superframes.lowerBound)
      outcome.isUnfinished = outcome.isUnfinished || isRoom
      waitsLeft = 0
    }
    while true {
      Collector.reclaim(state)
      if allocator.isFree(window) { return true }
      guard waitsLeft > 0, evacuation.movedBytes < Self.movedBytesPerCall else { return false }
      waitsLeft -= 1
      shmos_sleep(Self.waitNanoseconds)
    }
  }

  /// Drops the last unit, which is empty, and those before it that are empty too.
  private func dropUnits(atMost spareUnits: Int) {
    for _ in 0..<min(spareUnits, Self.unitsPerCall) {
      guard allocator.isFree(lastUnit) else { return }
      dropLastUnit()
    }
  }

  /// ORDER units-published. WriterLockRecovery.inherit publishes what `units` says if this process dies between the two.
  private func dropLastUnit() {
    state.ctl.storeRelease(ControlLayout.units, UInt64(allocator.unitCount - 1))
    crashFence()
    allocator.publishUnits()
  }

  // MARK: - Bookkeeping

  private var rings: [Ring] { [state.limbo, state.superseded, state.retained] }

  private var isAnyTooLarge: Bool { state.journal.isTooLarge || rings.contains { $0.isTooLarge } }

  private func shrinkBookkeeping() {
    state.journal.shrink()
    for ring in rings { ring.shrink() }
    state.forgetRoom()
  }

  /// The words that say how much room journal and rings have.
  private var bookkeepingSizes: [(offset: Int, word: UInt64)] {
    ([ControlLayout.journalAllocated] + rings.map { $0.header + shm_ring_mask_offset })
      .map { ($0, state.ctl.loadRelaxed($0)) }
  }

  /// Takes a shrinking back, as long as the pages are there and nothing was put into journal and rings.
  private func restore(_ sizes: [(offset: Int, word: UInt64)]) {
    for (offset, word) in sizes { state.ctl.storeRelease(offset, word) }
  }

  // MARK: - Pages

  /// Has the data object pages behind its last unit, or the control object some that journal and rings do not use? A death leaves them, and so
  /// does a repair. Of the control object only those that were written are found.
  private var hasUncountedPages: Bool {
    let allocated = (try? backing.data.status().allocated) ?? 0
    return allocated > roundUp(geometry.unitOffset(allocator.unitCount), to: Int(getpagesize()))
      || spareRegions.contains { backing.hasControlPages($0) }
  }

  private var spareRegions: [Range<Int>] { [state.journal.spareRegion] + rings.map(\.spareRegion) }

  /// - Returns: bytes.
  private func givePagesBack() -> Int {
    let before = backing.allocatedBytes
    let end = geometry.unitOffset(allocator.unitCount)
    HugePages.forget(from: end, state.ctl)
    backing.giveBackData(end..<geometry.dataBytes)
    for region in spareRegions { backing.giveBackControl(region) }
    return max(0, before - backing.allocatedBytes)
  }

  /// Waits a little until all who look at the table without W have begun after now.
  ///
  /// PAIR onlookers. Other end: Segment.keptBytes. What they announce is found by the scan, or they find the table smaller.
  private func awaitOnlookers() -> Bool {
    if state.variant == .rcu {
      let transaction = Transaction(state: state)
      transaction.begin()
      transaction.commit()
    }
    return awaitReaders()
  }

  /// The shrinking process waits a little until no reader reads at a version before the newest one, and none may still begin to.
  /// - Returns: false if a reader is left that does.
  private func awaitReaders() -> Bool {
    guard state.variant == .rcu else { return true }
    for _ in 0..<Self.waitsPerCall {
      guard let scan = ReaderScan.take(state) else { return false }
      if !scan.isBehind(state.committed) { return true }
      shmos_sleep(Self.waitNanoseconds)
    }
    return false
  }
}

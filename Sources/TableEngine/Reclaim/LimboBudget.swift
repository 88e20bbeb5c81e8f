import CShims

/// G7: what readers may keep from being reused is bounded.
struct LimboBudget {
  let state: WriterState

  private var ctl: MappedMemory { state.ctl }

  /// Bytes that wait to be reused: what readers keep, and what the next pass will free. All that is on the rings *limbo* and *superseded*, or
  /// retained. Without W more may seem to be popped than pushed.
  var reclaimableBytes: Int { max(0, Int(truncatingIfNeeded: keptBytes)) }

  /// As ``reclaimableBytes``, as an unsigned number, for a comparison that each barrier makes: a conversion would cost it as much again.
  @inline(__always)
  private var keptBytes: UInt64 { state.limbo.bytesPushed &- state.limbo.bytesPopped &+ garbageBytes }

  /// Bytes of superseded versions, retained ones among them.
  @inline(__always)
  var garbageBytes: UInt64 { ctl.loadRelaxed(ControlLayout.garbageBytes) &- state.superseded.bytesPopped }

  /// Is the budget respected, and has no barrier asked for room? Then a transaction may open at once.
  var needsNoWork: Bool { roomWanted == 0 && isRespected }

  /// Are the bytes that wait to be reused within the budget? For the owner of W: to others more may seem to be popped than pushed.
  @inline(__always)
  var isRespected: Bool { keptBytes <= ctl.loadRelaxed(ControlLayout.limboBudget) }

  /// What a barrier found no room for, as ``wantRoom(for:isReserveShort:)`` says it; 0 = nothing.
  @inline(__always)
  var roomWanted: UInt64 { ctl.loadRelaxed(ControlLayout.roomWanted) }

  /// Reclaims what a barrier asked for, and ends snapshots where the table's policy says so. By the owner of W, before a
  /// transaction opens.
  /// - Throws: `full` naming the reader in the way, if too much is left.
  func enforce() throws(EngineError) {
    if roomWanted != 0 { makeRoom() }
    guard state.variant == .rcu else { return }
    let budget = Int(clamping: ctl.loadRelaxed(ControlLayout.limboBudget))
    guard reclaimableBytes > budget else { return }
    try reclaim(downTo: budget)
  }

  /// Reclaims no more than is too much: the next writes go on from there.
  private func reclaim(downTo budget: Int) throws(EngineError) {
    var shortage = EngineError.Shortage.limbo(nil)
    var stoppedFor: Int?
    let isTooMuch = { reclaimableBytes > budget }
    // If the reader in the way has gone since the pass, another pass may reclaim what it kept.
    for _ in 0..<Self.attempts {
      Collector(state: state).collectAll(while: isTooMuch)
      guard isTooMuch() else { return }
      stoppedFor = Evictor(state: state).evict(sparingBesideAnyReader: true, while: isTooMuch)
      guard isTooMuch() else { return }
      shortage = Culprit(state: state).shortage(of: stoppedFor)
      guard case .limbo(nil) = shortage else { break }
    }
    // Beside readers that come and go the writer waits a little, as for one that has just come.
    if case .limbo(nil) = shortage, let stoppedFor { shortage = .limbo(state.slots.readerInTheWay(stoppedFor)) }
    throw .full(shortage)
  }

  /// If passes reclaim nothing although no reader is in the way, the rings cannot grow. After so many of them the write fails.
  private static let attempts = 4

  /// An operation's error, as it is to be thrown. If the operation found no room, the next barrier makes some.
  @inline(never)
  func noteAndExplain(_ error: EngineError) -> EngineError {
    noteShortage(error)
    return explain(error)
  }

  /// Has the next barrier make room for a block of the size that this one sought in vain; of the least size, if what
  /// was short was the journal or a ring.
  func noteShortage(_ error: EngineError) {
    if case .full = error { wantRoom(for: state.shortCode) }
  }

  /// Has the next barrier make room for a block of this size code, and move replacements out of their reserve.
  /// - Parameter isReserveShort: whether the reserve had no such block for a replacement: then all of it is emptied. If a barrier says so once, that
  ///   stands whatever else it finds no room for.
  func wantRoom(for code: Int, isReserveShort: Bool = false) {
    let said = isReserveShort ? Self.reserveIsShort : roomWanted & Self.reserveIsShort
    ctl.storeRelaxed(ControlLayout.roomWanted, said | UInt64(code) &+ 1)
  }

  private static let reserveIsShort: UInt64 = 1 << UInt64(SHM_ROOM_REPLACEMENT_BIT)

  private func makeRoom() {
    let wanted = roomWanted
    ctl.storeRelaxed(ControlLayout.roomWanted, 0)
    Collector(state: state).collectAll()
    let code = Int(truncatingIfNeeded: wanted & ~Self.reserveIsShort) &- 1
    let compactor = Compactor(state: state, emptiesReserve: wanted & Self.reserveIsShort != 0)
    let makesRoom = { tryToMakeRoom(for: code, compactor) }
    if makesRoom() { return }
    _ = Evictor(state: state).evict(sparingBesideAnyReader: false) { !makesRoom() }
  }

  /// - Returns: whether there is room now for the block and a write's records; also true if readers keep too little for such a block: to
  ///   end snapshots would not help then.
  private func tryToMakeRoom(for code: Int, _ compactor: Compactor) -> Bool {
    // The compactor looks at a part of a large table in each call.
    let isRoom = compactor.makeRoom(for: code) || state.allocator.ensureRoom(for: code)
    if isRoom, Transaction(state: state).canReserve() { return true }
    return reclaimableBytes < SizeClasses.byteCount(code: code)
  }

  /// What an operation says that found no room: who keeps what is missing, if that is kept.
  ///
  /// Judged by what this operation missed, and in its own turn: the barrier that made room for it may have been another writer's.
  private func explain(_ error: EngineError) -> EngineError {
    guard state.variant == .rcu, case .full(let found) = error, found.mayBeReadersDoing,
      reclaimableBytes > 0, reclaimableBytes >= state.missedBytes
    else { return error }
    return .full(Culprit(state: state).shortageBelowBudget)
  }
}

extension EngineError.Shortage {
  /// May what is missing be kept by readers? That goes for rings at their limit, too, whose records are of what readers keep.
  fileprivate var mayBeReadersDoing: Bool {
    switch self {
    case .capacity, .fileSystem, .barrier: true
    default: false
    }
  }
}

import CShims
import SharedMemory

/// The exclusive section: one at a time on the host (G3), all of it or nothing (G2).
extension Segment {
  /// Waits for the table and opens a transaction.
  ///
  /// Blocks while another barrier runs, and in the rwlock variant while readers are inside; at most
  /// `timeoutNanoseconds` in all. The calling thread must close it with ``commitBarrier()`` or ``abortBarrier()``.
  /// - Throws: `wouldDeadlock` inside any section of this table on this thread, `timedOut`, `full(.limbo)`, `damaged`,
  ///   `unlinked`, `forked`.
  /// - Parameter now: the instant by which the barrier judges expiry; by default when the first such value is met.
  /// - Parameter reach: what the barrier may change, and so whose claims it waits for.
  public func beginBarrier(
    timeoutNanoseconds: UInt64, now: UInt64 = SectionTime.notYetRead, reach: BarrierReach = .table
  ) throws(EngineError) {
    try checkParticipation()
    try withParticipant { participant throws(EngineError) in
      try beginBarrier(participant, timeoutNanoseconds, now, reach)
    }
  }

  private func beginBarrier(
    _ participant: Participant, _ timeoutNanoseconds: UInt64, _ now: UInt64, _ reach: BarrierReach
  ) throws(EngineError) {
    if case .key(let key) = reach { unsafe prefetch(key) }
    let record = try unsafe threadRecord()
    try unsafe checkOutsideSections(record)
    // Who may have to wait for more than W keeps to a deadline; the others ask the clock that is a tick behind.
    let keepsTime = variant == .rwlock || policy(participant) == .wait || participant.claims.mayBeAny
    let start = keepsTime ? HostClock.monotonicNanoseconds : HostClock.coarseNanoseconds
    try checkLinked(participant, now: start)
    let slot = unsafe Int(record.pointee.slotIndex)
    try takeTurn(participant, slot: slot, reach, start, timeoutNanoseconds)
    unsafe record.pointee.inBarrier = 1
    unsafe record.pointee.now = now
    participant.writer.begin()
    shm_probe_barrier_entry(uuid.0, participant.writer.version)
  }

  func checkOutsideSections(_ record: ThreadRecord) throws(EngineError) {
    if unsafe record.pointee.inBarrier != 0 { throw .wouldDeadlock(outer: "barrier") }
    if unsafe record.pointee.readDepth != 0 { throw .wouldDeadlock(outer: "read section") }
  }

  /// After W from a dead owner's hands, before anything may throw: W is given back on every way out.
  ///
  /// What a death left is in shared memory (`wseq` odd, the journal, `abandoned`), not only in EOWNERDEAD: a wait that
  /// times out on the way may give W back as consistent, and the next owner still finds it.
  func inherit(_ participant: Participant) {
    if variant == .rwlock { participant.exclusion.inherit() }
    participant.lock.markConsistent()
  }

  /// After W and ``inherit(_:)``: the rwlock variant's exclusion, then recovery if a dead owner left something.
  func enter(_ participant: Participant, slot: Int, _ deadline: UInt64) throws(EngineError) {
    if variant == .rwlock { try participant.exclusion.enterExclusive(slot: slot, deadline: deadline) }
    if participant.writer.needsRecovery { participant.writer.recover() }
    if participant.ctl.loadRelaxed(ControlLayout.damaged) != 0 {
      leaveExclusive(participant)
      throw .damaged("it was marked damaged")
    }
  }

  func leaveExclusive(_ participant: Participant) {
    if variant == .rwlock { participant.exclusion.leaveExclusive() }
  }

  /// Publishes the transaction's changes: a section that starts after this returned sees them (G4).
  public func commitBarrier() { withParticipant { closeBarrier($0, committed: 1) { $0.commit() } } }

  /// Undoes the transaction: nobody ever sees a part of it.
  public func abortBarrier() { withParticipant { closeBarrier($0, committed: 0) { $0.abort() } } }

  private func closeBarrier(_ participant: Participant, committed: UInt64, _ close: (Writer) -> Void) {
    guard let record = unsafe shm_thread_quick_find(id) else { return }
    let writer = participant.writer
    let version = writer.version
    close(writer)
    if variant == .rwlock {
      // Readers are still out: what the transaction superseded is free at once.
      _ = writer.freePass(upTo: .max)
      leaveExclusive(participant)
    } else if writer.isCollectionDue {
      writer.collect()
    }
    unsafe record.pointee.inBarrier = 0
    participant.lock.unlock()
    shm_probe_barrier_exit(uuid.0, version, committed)
  }

  /// Asks for what a barrier for this key will look at first: to take W lasts about as long as the cache miss.
  /// Stores nothing and follows nothing: without W, what the directory says may be of the past. To hash a long key takes
  /// longer than the miss.
  @inline(__always)
  private func prefetch(_ key: UnsafeRawBufferPointer) {
    guard let start = key.baseAddress, key.count <= 256 else { return }
    let hash = unsafe shm_hash(start, key.count, hashSeed)
    let root = DirectoryWord(data.loadRelaxed(DataLayout.root &+ Int(hash >> 54) &* 8))
    unsafe shm_prefetch(data.pointer(SubTable.bucket(root.offset, hash: hash, step: 0)))
  }

  // MARK: - Inside a barrier

  /// The transaction in flight; only between ``beginBarrier(timeoutNanoseconds:now:)`` and its end, on its thread.
  public func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes
  ) throws(EngineError) {
    try unsafe check(key: key)
    guard value.count <= geometry.maximumValueLength else {
      throw .valueTooLarge(value.count, maximum: geometry.maximumValueLength)
    }
    let record = try unsafe barrierRecord()
    if let buffer = unsafe changes(record) { return try unsafe put(key, value, attributes, in: buffer) }
    let hash = unsafe hash(key)
    do {
      try withWriter { writer throws(EngineError) in try unsafe writer.put(key, hash: hash, value, attributes) }
    } catch {
      noteShortage(error)
      throw error
    }
  }

  /// - Returns: whether there was anything to remove.
  public func remove(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    try unsafe check(key: key)
    let record = try unsafe barrierRecord()
    if let buffer = unsafe changes(record) { return try unsafe remove(key, in: buffer, record) }
    do {
      let hash = unsafe hash(key)
      return try withWriter { writer throws(EngineError) in try unsafe writer.remove(key, hash: hash) }
    } catch {
      noteShortage(error)
      throw error
    }
  }

  /// Marks where the transaction in flight has got to; only inside a barrier, on its thread.
  /// - Throws: `forked`.
  public func savepoint() throws(EngineError) -> Savepoint {
    if let buffer = try unsafe changes(barrierRecord()) { return .buffered(buffer.savepoint) }
    return .journaled(try withWriter { writer in writer.savepoint })
  }

  /// Takes back what the barrier changed since a savepoint of its own; the rest stands, and the barrier goes on.
  ///
  /// Savepoints nest: those taken after this one are void. Memory of what is taken back is reused after the barrier.
  /// - Throws: `forked`, with nothing done.
  public func rollback(to savepoint: Savepoint) throws(EngineError) {
    let buffer = try unsafe changes(barrierRecord())
    switch savepoint {
    case .buffered(let count): buffer?.rollback(to: count)
    case .journaled(let savepoint): try withWriter { writer in writer.rollback(to: savepoint) }
    }
  }

  /// A place in a barrier that it can be rolled back to.
  public enum Savepoint: Sendable {
    case journaled(JournalSavepoint)
    /// Of a barrier of some keys: how much it had changed.
    case buffered(Int)
  }

  /// The record of the thread that runs the barrier. A child forked inside it has the closure but not the barrier.
  @inline(__always)
  func barrierRecord() throws(EngineError) -> ThreadRecord {
    guard let record = unsafe shm_thread_quick_find(id), unsafe record.pointee.inBarrier != 0 else { throw .forked }
    return unsafe record
  }

  private func withWriter<R>(_ body: (Writer) throws(EngineError) -> R) throws(EngineError) -> R {
    try withParticipant { participant throws(EngineError) in try body(participant.writer) }!
  }

  private func noteShortage(_ error: EngineError) {
    if case .full = error { participant!.ctl.storeRelaxed(ControlLayout.collectionWanted, 1) }
  }

  // MARK: - Reclamation

  /// G7: what readers may keep from being reused is bounded. Called with W, before a transaction opens.
  func enforceLimboBudget(_ participant: Participant) throws(EngineError) {
    let writer = participant.writer
    guard variant == .rcu else { return }
    if participant.ctl.loadRelaxed(ControlLayout.collectionWanted) != 0 {
      participant.ctl.storeRelaxed(ControlLayout.collectionWanted, 0)
      writer.collectAll()
    }
    let budget = Int(clamping: participant.ctl.loadRelaxed(ControlLayout.limboBudget))
    guard writer.reclaimableBytes > budget else { return }
    writer.collectAll()
    if writer.reclaimableBytes > budget, policy(participant) == .evict {
      writer.evictSnapshots()
      writer.collectAll()
    }
    if writer.reclaimableBytes > budget { throw .full(writer.whatKeepsMemory()) }
  }

  func policy(_ participant: Participant) -> StalledReaderPolicy {
    StalledReaderPolicy(rawValue: participant.ctl.loadRelaxed(ControlLayout.stalledReaderPolicy)) ?? .refuse
  }

  /// Runs gc if nobody is writing; repairs after a dead writer. For a daemon's idle moments.
  /// - Parameter passes: the most passes of gc: bounds how long a writer may have to wait for it.
  /// - Returns: whether anything was reclaimed or repaired; nil if the table was busy.
  public func maintain(passes: Int = .max) throws(EngineError) -> Bool? {
    let participant = try requireParticipant()
    let record = try unsafe threadRecord()
    guard unsafe shm_thread_is_outside(record) else {
      throw .wouldDeadlock(outer: "section")
    }
    guard let outcome = participant.lock.tryLock(slot: unsafe Int(record.pointee.slotIndex)) else { return nil }
    defer { participant.lock.unlock() }
    var changed = false
    if outcome == .ownerDied { inherit(participant) }
    if outcome == .ownerDied || participant.writer.needsRecovery {
      try enter(
        participant, slot: unsafe Int(record.pointee.slotIndex), HostClock.monotonicNanoseconds &+ 1_000_000_000)
      leaveExclusive(participant)
      changed = true
    }
    if variant == .rcu { changed = participant.writer.collectAll(passes: passes) || changed }
    return changed
  }
}

/// What a barrier may change.
@safe
public enum BarrierReach {
  /// Everything: waits for all claims.
  case table
  /// One key, and nothing below it: waits for the claims that it belongs to.
  case key(UnsafeRawBufferPointer)
  /// Keys to be claimed.
  case keys(ClaimSet)
  /// What its thread has claimed.
  case claimed
  /// What nobody has claimed: asks for each key, and waits for none.
  case unclaimed

  @inline(__always)
  var claims: Bool {
    if case .keys = self { return true }
    return false
  }

  /// Nil if nobody can be in the way.
  func request(slot: Int, seed: UInt64) -> Claims.Request? {
    switch self {
    case .table: Claims.Request(slot: slot, keys: .table, claims: false)
    case .key(let key): Claims.Request(slot: slot, keys: unsafe ClaimSet(writing: key, seed: seed), claims: false)
    case .keys(let keys): Claims.Request(slot: slot, keys: keys, claims: true)
    case .claimed, .unclaimed: nil
    }
  }
}

/// What happens when readers keep more than the limbo budget from being reused.
public enum StalledReaderPolicy: UInt64, Sendable, CaseIterable {
  /// The oldest snapshots that are not inside a zero-copy section fail with `snapshotTooOld`.
  case evict = 0
  /// Writes fail with `full`, naming the reader.
  case refuse = 1
  /// Writes wait for the readers to move on, at most their timeout; then they fail as with `refuse`.
  case wait = 2
}

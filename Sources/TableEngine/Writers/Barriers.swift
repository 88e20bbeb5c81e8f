import CShims
import SharedMemory

/// The exclusive section: one at a time on the host (G3), all of it or nothing (G2).
struct Barriers {
  let segment: Segment

  // MARK: - Begin and end

  /// Waits for the table and opens a transaction.
  ///
  /// Blocks while another barrier runs, and in the rwlock variant while readers are inside; at most
  /// `timeoutNanoseconds` in all. The calling thread must close it with ``commit()`` or ``abort()``.
  /// - Throws: `wouldDeadlock` inside any section of this table on this thread, `timedOut`, `full(.limbo)`, `damaged`,
  ///   `unlinked`, `forked`, `mirrored`, `notPermitted` for an observer.
  /// - Parameter now: the instant by which the barrier judges expiry; by default that at which it first looks at a
  ///   value that expires.
  /// - Parameter reach: what the barrier may change, and so whose key locks it waits for.
  @inline(__always)
  func begin(
    timeoutNanoseconds: UInt64, now: UInt64 = SectionTime.notYetRead, reach: BarrierReach = .table
  ) throws(EngineError) {
    try segment.checkWriting()
    try segment.withParticipant { participant throws(EngineError) in
      if case .key(let key) = reach { unsafe prefetch(key) }
      let record = try unsafe admit(participant, timeoutNanoseconds, reach)
      unsafe open(participant, record, now: now, mark: reach.isWholeTable ? .wholeTable : .part)
    }
  }

  /// As ``begin(timeoutNanoseconds:now:reach:)``, on the whole table, for a process that mirrors another store into it. To this barrier nothing is
  /// expired.
  /// - Throws: `unsupported` if the table is no mirror; what that throws, but for `mirrored`.
  func beginAsMirror(timeoutNanoseconds: UInt64) throws(EngineError) {
    try segment.checkParticipation()
    guard segment.features.contains(.mirror) else {
      throw .unsupported(
        "mirroring another store into a table that was not made as a mirror",
        instead: "give the table an 'upstream' in shmd's configuration, and make it anew")
    }
    try segment.withParticipant { participant throws(EngineError) in
      let record = try unsafe admit(participant, timeoutNanoseconds, .table)
      unsafe open(participant, record, now: 0, mark: .wholeTable)
    }
  }

  /// Waits until the calling thread may ``open(_:_:now:mark:)`` a transaction.
  /// - Parameter reach: no keys to be locked: those are for ``KeyedBarriers``.
  /// - Returns: the thread's record.
  @inline(__always)
  func admit(
    _ participant: Segment.Participant, _ timeoutNanoseconds: UInt64, _ reach: BarrierReach
  ) throws(EngineError) -> ThreadRecord {
    let (record, left) = try unsafe admit(participant, waitingForWAlone: timeoutNanoseconds)
    if let record = unsafe record { return unsafe record }
    return try unsafe wait(participant, left, reach)
  }

  /// - Returns: no record, and W given back, where a barrier may have to wait for more than W; then also how many nanoseconds are
  ///   left.
  @inline(never)
  private func admit(
    _ participant: Segment.Participant, waitingForWAlone timeoutNanoseconds: UInt64
  ) throws(EngineError) -> (ThreadRecord?, left: UInt64) {
    let record = try unsafe segment.threadRecord()
    try unsafe record.checkOutsideSections()
    guard Admission(participant: participant).waitsForWAlone else { return (nil, timeoutNanoseconds) }
    // The wait for W asks the exact clock by itself. For all else, one that is a tick behind will do.
    let start = HostClock.coarseNanoseconds
    try segment.checkLinked(participant, now: start)
    let slot = unsafe Int(record.pointee.slotIndex)
    if try Admission(participant: participant).admitByWAlone(
      slot: slot, start: start, timeoutNanoseconds: timeoutNanoseconds)
    {
      return unsafe (record, timeoutNanoseconds)
    }
    let waited = HostClock.monotonicNanoseconds &- start
    return (nil, waited < timeoutNanoseconds ? timeoutNanoseconds &- waited : 0)
  }

  @inline(never)
  private func wait(
    _ participant: Segment.Participant, _ timeoutNanoseconds: UInt64, _ reach: BarrierReach
  ) throws(EngineError) -> ThreadRecord {
    let record = try unsafe segment.threadRecord()
    let start = HostClock.monotonicNanoseconds
    try segment.checkLinked(participant, now: start)
    try Admission(participant: participant).admit(
      Admission.Request(
        slot: unsafe Int(record.pointee.slotIndex), reach: reach, start: start, timeoutNanoseconds: timeoutNanoseconds))
    return unsafe record
  }

  /// The admitted thread's transaction.
  @inline(__always)
  func open(_ participant: Segment.Participant, _ record: ThreadRecord, now: UInt64, mark: BarrierMark) {
    unsafe record.pointee.inBarrier = mark.rawValue
    unsafe record.pointee.now = now
    Transaction(state: participant.state).begin()
    shm_probe_barrier_entry(segment.uuid.0, participant.state.version)
  }

  /// Opens a transaction on the whole table if that needs no waiting. For callers whose thread must not be held up.
  /// - Returns: false with nothing done if it might have to wait, and inside any section of this table on this thread.
  /// - Throws: `unlinked`, `forked`. A damaged table looks busy: the barrier that waits says what it is.
  func beginAtOnce() throws(EngineError) -> Bool {
    try segment.checkWriting()
    let record = try unsafe segment.threadRecord()
    guard unsafe shm_thread_is_outside(record) else { return false }
    let hasBegun = try segment.withParticipant { participant throws(EngineError) in
      let now = HostClock.coarseNanoseconds
      try segment.checkLinked(participant, now: now)
      let slot = unsafe Int(record.pointee.slotIndex)
      guard Admission(participant: participant).admitAtOnce(slot: slot, now: now) else { return false }
      unsafe open(participant, record, now: SectionTime.notYetRead, mark: .wholeTable)
      return true
    }
    return hasBegun ?? false
  }

  /// Prefetches the bucket that a barrier of this key will look at first: taking W lasts about as long as the cache
  /// miss. Nothing is stored, and nothing is loaded but the root's word: without W, what that names may be out of date by
  /// then, and its memory given back. So where it names a node, the prefetch is in vain. A long key is left out.
  @inline(__always)
  private func prefetch(_ key: UnsafeRawBufferPointer) {
    guard let start = key.baseAddress, key.count <= Segment.longestPrefetchedKey else { return }
    prefetch(hash: unsafe shm_hash(start, key.count, segment.hashSeed))
  }

  @inline(__always)
  func prefetch(hash: UInt64) {
    let root = DirectoryWord(segment.data.loadRelaxed(DataLayout.rootWord(ofHash: hash)))
    unsafe shm_prefetch(segment.data.pointer(SubTable.bucket(root.offset, hash: hash, step: 0)))
  }

  /// Publishes the transaction's changes: a section that starts after this returned sees them (G4).
  @inline(__always)
  func commit() { segment.withParticipant { end($0, by: .commit) } }

  /// Undoes the transaction: no reader ever sees a part of it.
  @inline(__always)
  func abort() { segment.withParticipant { end($0, by: .abort) } }

  enum Ending {
    case commit
    case abort
  }

  private func end(_ participant: Segment.Participant, by ending: Ending) {
    guard let record = unsafe shm_thread_quick_find(segment.id) else { return }
    unsafe end(participant, record, by: ending)
  }

  /// Ends the transaction and gives W back.
  @inline(__always)
  func end(_ participant: Segment.Participant, _ record: ThreadRecord, by ending: Ending) {
    let state = participant.state
    switch ending {
    case .commit: Transaction(state: state).commit()
    case .abort: Transaction(state: state).abort()
    }
    let version = state.version
    if segment.variant == .rwlock {
      // Readers are still out: what the transaction superseded is free at once.
      _ = FreePass(state: state).runWithoutReaders()
      TableExclusion(participant: participant).leave()
    } else if _slowPath(Collector(state: state).isDue) {
      Collector(state: state).collect(sparing: true)
    }
    unsafe record.pointee.inBarrier = BarrierMark.outside.rawValue
    let sizeBeforeGrowth = state.sizeBeforeGrowth
    state.sizeBeforeGrowth = 0
    participant.lock.unlock()
    if _slowPath(sizeBeforeGrowth > 0) { HugePages(segment).catchUp(afterGrowthFrom: sizeBeforeGrowth) }
    shm_probe_barrier_exit(segment.uuid.0, version, ending == .commit ? 1 : 0)
  }

  // MARK: - Inside a barrier

  /// Stores a value; only inside a barrier, on its thread.
  @inline(__always)
  func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes
  ) throws(EngineError) {
    try unsafe segment.check(key: key)
    try segment.check(valueLength: value.count)
    let record = try unsafe self.record()
    if let buffer = unsafe KeyedBarriers.buffer(record) {
      return try unsafe KeyedBarriers(segment: segment).put(key, value, attributes, in: buffer)
    }
    let hash = unsafe segment.hash(key)
    try inTransaction { transaction throws(EngineError) in
      try unsafe transaction.put(key, hash: hash, value, attributes)
    }
  }

  /// Stores a value unless the key has one of another type or layout; only inside a barrier, on its thread.
  /// - Parameter clock: called only if the old value has an expiry: to copy a clock counts a reference.
  /// - Returns: false with nothing done if it has.
  @inline(__always)
  func overwrite(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    _ clock: () -> ExpiryClock
  ) throws(EngineError) -> Bool {
    try unsafe put(key, hash: segment.hash(key), value, attributes, clock) { old in
      old?.hasForm(of: attributes) ?? true
    }
  }

  /// Stores a value in place of the key's, if the key has one that has not expired; only inside a barrier, on its
  /// thread.
  /// - Parameter clock: called only if the old value has an expiry: to copy a clock counts a reference.
  /// - Returns: false with nothing done if there is none.
  @inline(__always)
  func replace(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    _ clock: () -> ExpiryClock
  ) throws(EngineError) -> Bool {
    try unsafe put(key, hash: hash, value, attributes, clock) { old in old != nil }
  }

  /// Stores a value if that is wanted. One look-up serves the question and the store.
  /// - Parameter isWanted: asked about the key's value; nil if it is absent or expired.
  /// - Returns: whether it was.
  @inline(__always)
  private func put(
    _ key: UnsafeRawBufferPointer, hash: @autoclosure () -> UInt64, _ value: UnsafeRawBufferPointer,
    _ attributes: ValueAttributes, _ clock: () -> ExpiryClock, if isWanted: (FoundEntry?) -> Bool
  ) throws(EngineError) -> Bool {
    try unsafe segment.check(key: key)
    try segment.check(valueLength: value.count)
    let record = try unsafe self.record()
    if let buffer = unsafe KeyedBarriers.buffer(record) {
      let keyed = KeyedBarriers(segment: segment)
      guard isWanted(try unsafe keyed.find(key, in: buffer, record, clock())) else { return false }
      try unsafe keyed.put(key, value, attributes, in: buffer)
      return true
    }
    return try unsafe putInTable(key, hash: hash(), value, attributes, clock, if: isWanted)
  }

  /// As ``replace(_:hash:_:_:_:)``, in the table itself, whatever a barrier of some keys has in its buffer.
  @inline(__always)
  func replaceInTable(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    _ clock: () -> ExpiryClock
  ) throws(EngineError) -> Bool {
    try unsafe putInTable(key, hash: hash, value, attributes, clock) { old in old != nil }
  }

  @inline(__always)
  private func putInTable(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    _ clock: () -> ExpiryClock, if isWanted: (FoundEntry?) -> Bool
  ) throws(EngineError) -> Bool {
    try inTransaction { transaction throws(EngineError) in
      try unsafe transaction.put(key, hash: hash, value, attributes) { isWanted(segment.foundEntry($0, clock)) }
    }
  }

  /// Stores a value that is made in place instead of one that was located: see ``Transaction/replace(_:valueLength:_:)``.
  @inline(__always)
  func replaceInTable(
    _ old: LocatedEntry, valueLength: Int, _ write: (UnsafeMutableRawPointer) -> Void
  ) throws(EngineError) {
    try inTransaction { transaction throws(EngineError) in
      try unsafe transaction.replace(old, valueLength: valueLength, write)
    }
  }

  /// Removes a key; only inside a barrier, on its thread.
  /// - Parameter clock: called only if the value has an expiry: to copy a clock counts a reference.
  /// - Returns: whether there was a value that had not expired. An expired one is removed all the same.
  @inline(__always)
  func remove(_ key: UnsafeRawBufferPointer, _ clock: () -> ExpiryClock) throws(EngineError) -> Bool {
    try unsafe segment.check(key: key)
    let record = try unsafe self.record()
    if let buffer = unsafe KeyedBarriers.buffer(record) {
      let keyed = KeyedBarriers(segment: segment)
      let wasPresent = try unsafe keyed.find(key, in: buffer, record, clock()) != nil
      return try unsafe keyed.remove(key, in: buffer, record) && wasPresent
    }
    return segment.wasPresent(removed: try unsafe removeEntry(key), clock)
  }

  /// Removes a key's entry from the table itself, whatever a barrier of some keys has in its buffer.
  /// - Returns: the entry, expired or not, which stays until the barrier ends; 0 if there was none.
  @inline(__always)
  func removeEntry(_ key: UnsafeRawBufferPointer) throws(EngineError) -> Int {
    let hash = unsafe segment.hash(key)
    return try inTransaction { transaction throws(EngineError) in try unsafe transaction.remove(key, hash: hash) }
  }

  /// Runs an operation on the transaction in flight. If it finds no room, it has the next barrier make some.
  @inline(__always)
  private func inTransaction<R>(_ body: (Transaction) throws(EngineError) -> R) throws(EngineError) -> R {
    do throws(EngineError) {
      return try segment.withKnownParticipant { participant throws(EngineError) in
        try body(Transaction(state: participant.state))
      }
    } catch {
      throw LimboBudget(state: segment.participant!.state).noteAndExplain(error)
    }
  }

  /// The record of the thread that runs the barrier. It throws in a child that was forked inside the barrier: the child
  /// has inherited the closure, but not the barrier.
  @inline(__always)
  func record() throws(EngineError) -> ThreadRecord {
    guard let record = unsafe shm_thread_quick_find(segment.id), unsafe record.pointee.inBarrier != 0 else {
      throw .forked
    }
    return unsafe record
  }

  /// The version that this thread's barrier will commit; only inside one.
  var version: UInt64 { segment.participant!.state.version }

  /// Notes a name for the barrier that this thread has just begun: errors and reports show it.
  func note(_ label: BarrierLabel) {
    segment.withParticipant { label.note($0.ctl, version: $0.state.version) }
  }

  // MARK: - Savepoints

  /// Marks where the transaction in flight has got to; only inside a barrier, on its thread.
  /// - Throws: `forked`.
  @inline(__always)
  func savepoint() throws(EngineError) -> BarrierSavepoint {
    if let buffer = try unsafe KeyedBarriers.buffer(record()) { return .buffered(buffer.savepoint) }
    return .journaled(JournalSavepoint(segment.participant!.state))
  }

  /// Takes back what the barrier changed since a savepoint of its own; the rest stands, and the barrier goes on.
  ///
  /// Savepoints nest: those taken after this one are void. Memory of what is taken back is reused after the barrier.
  /// - Throws: `forked`, with nothing done.
  func rollback(to savepoint: BarrierSavepoint) throws(EngineError) {
    let buffer = try unsafe KeyedBarriers.buffer(record())
    switch savepoint {
    case .buffered(let count): buffer?.rollback(to: count)
    case .journaled(let savepoint): SavepointRollback(state: segment.participant!.state).run(to: savepoint)
    }
  }
}

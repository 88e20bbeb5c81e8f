import CShims

/// Barriers that change one key and do nothing else: what ``Barriers`` does in three calls, in one. The key is hashed once, before
/// W is taken, and the thread's record is sought once.
struct SingleWrites {
  let segment: Segment

  private var barriers: Barriers { Barriers(segment: segment) }

  /// Stores a value; see ``Barriers/put(_:_:_:)``.
  /// - Throws: what ``Barriers/begin(timeoutNanoseconds:now:reach:)`` and a put throw, with nothing changed.
  @inline(__always)
  func set(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    timeoutNanoseconds: UInt64
  ) throws(EngineError) {
    try segment.check(valueLength: value.count)
    try unsafe run(key, timeoutNanoseconds) { transaction, hash throws(EngineError) in
      try unsafe transaction.put(key, hash: hash, value, attributes)
    }
  }

  /// Removes a key; see ``Barriers/remove(_:_:)``.
  /// - Returns: whether there was a value whose time had not come.
  @inline(__always)
  func remove(
    _ key: UnsafeRawBufferPointer, _ clock: () -> WallClock, timeoutNanoseconds: UInt64
  ) throws(EngineError) -> Bool {
    try unsafe run(key, timeoutNanoseconds) { transaction, hash throws(EngineError) in
      segment.wasPresent(try unsafe transaction.remove(key, hash: hash), clock)
    }
  }

  @inline(__always)
  private func run<R>(
    _ key: UnsafeRawBufferPointer, _ timeoutNanoseconds: UInt64,
    _ change: (Transaction, UInt64) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    try segment.checkWriting()
    try unsafe segment.check(key: key)
    let hash = unsafe segment.hash(key)
    return try segment.withParticipant { participant throws(EngineError) in
      barriers.prefetch(hash: hash)
      let record = try unsafe barriers.begin(
        participant, timeoutNanoseconds, now: SectionTime.notYetRead, .key(key))
      let result: R
      do throws(EngineError) {
        result = try change(Transaction(state: participant.state), hash)
      } catch {
        let explained = LimboBudget(state: participant.state).noted(error)
        unsafe barriers.close(participant, record, committed: 0) { $0.abort() }
        throw explained
      }
      unsafe barriers.close(participant, record, committed: 1) { $0.commit() }
      return result
    }!
  }
}

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
    let hash = try unsafe hash(key)
    try segment.withKnownParticipant { participant throws(EngineError) in
      let record = try unsafe begin(participant, key, hash: hash, timeoutNanoseconds)
      do throws(EngineError) {
        try unsafe Transaction(state: participant.state).put(key, hash: hash, value, attributes)
      } catch {
        throw unsafe abort(participant, record, error)
      }
      unsafe barriers.end(participant, record, by: .commit)
    }
  }

  /// Removes a key; see ``Barriers/remove(_:_:)``.
  /// - Returns: whether there was a value whose time had not come.
  @inline(__always)
  func remove(
    _ key: UnsafeRawBufferPointer, _ clock: () -> ExpiryClock, timeoutNanoseconds: UInt64
  ) throws(EngineError) -> Bool {
    let hash = try unsafe hash(key)
    return try segment.withKnownParticipant { participant throws(EngineError) in
      let record = try unsafe begin(participant, key, hash: hash, timeoutNanoseconds)
      let wasPresent: Bool
      do throws(EngineError) {
        wasPresent = segment.wasPresent(
          removed: try unsafe Transaction(state: participant.state).remove(key, hash: hash), clock)
      } catch {
        throw unsafe abort(participant, record, error)
      }
      unsafe barriers.end(participant, record, by: .commit)
      return wasPresent
    }
  }

  // `set` and `remove` share these small functions. One function that took the change as a closure would call it
  // instead of inlining it, and pass it all that it needs.

  @inline(__always)
  private func hash(_ key: UnsafeRawBufferPointer) throws(EngineError) -> UInt64 {
    try segment.checkWriting()
    try unsafe segment.check(key: key)
    return unsafe segment.hash(key)
  }

  @inline(__always)
  private func begin(
    _ participant: Segment.Participant, _ key: UnsafeRawBufferPointer, hash: UInt64, _ timeoutNanoseconds: UInt64
  ) throws(EngineError) -> ThreadRecord {
    barriers.prefetch(hash: hash)
    let record = try unsafe barriers.admit(participant, timeoutNanoseconds, .key(key))
    unsafe barriers.open(participant, record, now: SectionTime.notYetRead, mark: .part)
    return unsafe record
  }

  /// - Returns: what to throw.
  @inline(never)
  private func abort(
    _ participant: Segment.Participant, _ record: ThreadRecord, _ error: EngineError
  ) -> EngineError {
    let explained = LimboBudget(state: participant.state).noteAndExplain(error)
    unsafe barriers.end(participant, record, by: .abort)
    return explained
  }
}

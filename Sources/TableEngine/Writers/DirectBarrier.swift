/// A barrier on one key and all that begin with it and a slash, in which no code runs but this project's own.
///
/// ``Barriers`` looks up the thread's record in each step, and checks whether the process has been forked and whether
/// changes go to a buffer. Here that is known: this value has the record, no closure of a user can fork, and the
/// barrier holds W. So this value must not be handed to code that a user wrote, or the child of a fork in it would
/// change the table. For rare steps, the functions of ``Barriers`` work inside this barrier as well.
@safe
public struct DirectBarrier {
  let record: ThreadRecord
  /// What lay under the key when the barrier began; nil if it was absent or expired.
  public let root: FoundEntry?

  @inline(__always)
  init(_ record: ThreadRecord, root: FoundEntry?) {
    unsafe self.record = record
    self.root = root
  }
}

extension Segment {
  /// Waits for the table and opens a barrier that may change a key and all that begin with it and a slash; see
  /// ``Barriers/begin(timeoutNanoseconds:now:reach:)``. It ends with
  /// ``replace(_:hash:_:_:committing:_:)`` or one of its other forms, ``commitBarrier()`` or ``abortBarrier()``.
  /// - Parameter key: of a length that keys have.
  /// - Parameter clock: called only if the value has an expiry: to copy a clock counts a reference.
  public func beginDirectBarrier(
    below key: UnsafeRawBufferPointer, hash: UInt64, timeoutNanoseconds: UInt64, _ clock: () -> ExpiryClock
  ) throws(EngineError) -> DirectBarrier {
    try checkWriting()
    return try withKnownParticipant { participant throws(EngineError) in
      let record = try unsafe barriers.admit(participant, timeoutNanoseconds, .subtree(key))
      unsafe barriers.open(participant, record, now: SectionTime.notYetRead, mark: .part)
      return unsafe DirectBarrier(record, root: newest(key, hash: hash, clock))
    }
  }

  /// What the barrier sees under a key; nil if that is absent or expired.
  /// - Parameter key: of a length that keys have.
  /// - Parameter clock: called only if the value has an expiry: to copy a clock counts a reference.
  public func find(
    _ key: UnsafeRawBufferPointer, hash: UInt64, in barrier: DirectBarrier, _ clock: () -> ExpiryClock
  ) -> FoundEntry? {
    unsafe newest(key, hash: hash, clock)
  }

  /// Nobody else changes anything while this thread owns W, so the newest version is the one to see.
  @inline(__always)
  private func newest(_ key: UnsafeRawBufferPointer, hash: UInt64, _ clock: () -> ExpiryClock) -> FoundEntry? {
    foundEntry(unsafe Lookup(data: data).newest(key.baseAddress.unsafelyUnwrapped, key.count, hash: hash), clock)
  }

  /// Stores a value in place of the key's, if the key has one that has not expired, and commits. One look-up serves
  /// both.
  /// - Parameter key: of a length that keys have.
  /// - Returns: false with nothing done, and the barrier open, if there is none.
  public func replace(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    committing barrier: DirectBarrier, _ clock: () -> ExpiryClock
  ) throws(EngineError) -> Bool {
    try unsafe replaceAndCommit(key, hash: hash, value, attributes, barrier, clock)
  }

  /// As ``replace(_:hash:_:_:committing:_:)``, for a value with a type and no other attribute, as in ``put(_:_:type:)``.
  public func replace(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, type: UInt8,
    committing barrier: DirectBarrier, _ clock: () -> ExpiryClock
  ) throws(EngineError) -> Bool {
    try unsafe replaceAndCommit(key, hash: hash, value, ValueAttributes(type: type), barrier, clock)
  }

  @inline(__always)
  private func replaceAndCommit(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    _ barrier: DirectBarrier, _ clock: () -> ExpiryClock
  ) throws(EngineError) -> Bool {
    try check(valueLength: value.count)
    guard try unsafe barriers.replaceInTable(key, hash: hash, value, attributes, clock) else { return false }
    commit(barrier)
    return true
  }

  /// As ``find(_:hash:in:_:)``, for a value of which a new one is to be made.
  public func locate(
    _ key: UnsafeRawBufferPointer, hash: UInt64, in barrier: DirectBarrier, _ clock: () -> ExpiryClock
  ) -> LocatedEntry? {
    let location = unsafe Lookup(data: data).locate(
      key.baseAddress.unsafelyUnwrapped, key.count, hash: hash, isPlain: false)
    guard let found = foundEntry(BucketWord.offset(location.word), clock) else { return nil }
    return LocatedEntry(entry: found, place: location.place)
  }

  /// Stores a value of so many bytes in place of one that was located, with the same attributes, and commits.
  /// - Parameter write: puts the bytes where they are to lie: all of them. May look at the old ones.
  public func replace(
    _ old: LocatedEntry, valueLength: Int, committing barrier: DirectBarrier,
    _ write: (UnsafeMutableRawPointer) -> Void
  ) throws(EngineError) {
    try check(valueLength: valueLength)
    try unsafe barriers.replaceInTable(old, valueLength: valueLength, write)
    commit(barrier)
  }

  @inline(__always)
  private func commit(_ barrier: DirectBarrier) {
    withKnownParticipant { unsafe barriers.end($0, barrier.record, by: .commit) }
  }
}

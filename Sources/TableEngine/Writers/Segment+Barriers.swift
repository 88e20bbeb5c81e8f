/// The door from a table's handle to its exclusive sections: each function is that of ``Barriers`` or ``KeyedBarriers``.
///
/// Functions of the segment and not of a value that refers to it: a value would count a reference in the caller's module,
/// which costs a `set` a twentieth of its instructions.
extension Segment {
  @inline(__always)
  var barriers: Barriers { Barriers(segment: self) }
  @inline(__always)
  var keyedBarriers: KeyedBarriers { KeyedBarriers(segment: self) }

  /// See ``Barriers/begin(timeoutNanoseconds:now:reach:)``.
  public func beginBarrier(
    timeoutNanoseconds: UInt64, now: UInt64 = SectionTime.notYetRead, reach: BarrierReach = .table
  ) throws(EngineError) {
    try barriers.begin(timeoutNanoseconds: timeoutNanoseconds, now: now, reach: reach)
  }

  /// See ``Barriers/beginAsMirror(timeoutNanoseconds:)``.
  public func beginMirrorBarrier(timeoutNanoseconds: UInt64) throws(EngineError) {
    try barriers.beginAsMirror(timeoutNanoseconds: timeoutNanoseconds)
  }

  /// See ``Barriers/beginAtOnce()``.
  public func beginBarrierAtOnce() throws(EngineError) -> Bool { try barriers.beginAtOnce() }

  /// Has somebody a right to go before a writer that comes now: a waiter for W that is due (``WriterLockWait``), or, in the rwlock variant, readers that
  /// waited through a barrier (``RWExclusion/letWaitersGoFirst(deadline:)``)? A hint, for writers that will not wait: they would go first all the same.
  public var mustLetOthersGoFirst: Bool {
    guard let ctl = participant?.ctl else { return false }
    return !WriterLockWait.mayTry(ctl) || variant == .rwlock && ctl.loadRelaxed(RWLayout.hint) != 0
  }

  /// See ``Barriers/commit()``.
  public func commitBarrier() { barriers.commit() }

  /// See ``Barriers/abort()``.
  public func abortBarrier() { barriers.abort() }

  /// See ``KeyedBarriers/bufferedBytes``.
  public var bufferedBytes: Int { keyedBarriers.bufferedBytes }

  /// See ``Barriers/put(_:_:_:)``.
  public func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes
  ) throws(EngineError) {
    try unsafe barriers.put(key, value, attributes)
  }

  /// As ``put(_:_:_:)``, for a value with a type and no other attribute, as most are: the compiler leaves out what checks the other attributes.
  public func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, type: UInt8
  ) throws(EngineError) {
    try unsafe barriers.put(key, value, ValueAttributes(type: type))
  }

  /// See ``Barriers/overwrite(_:_:_:_:)``.
  public func overwrite(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    _ clock: () -> ExpiryClock
  ) throws(EngineError) -> Bool {
    try unsafe barriers.overwrite(key, value, attributes, clock)
  }

  /// As ``overwrite(_:_:_:_:)``, for a value with a type and no other attribute, as in ``put(_:_:type:)``.
  public func overwrite(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, type: UInt8, _ clock: () -> ExpiryClock
  ) throws(EngineError) -> Bool {
    try unsafe barriers.overwrite(key, value, ValueAttributes(type: type), clock)
  }

  /// See ``Barriers/replace(_:hash:_:_:_:)``.
  public func replace(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    _ clock: () -> ExpiryClock
  ) throws(EngineError) -> Bool {
    try unsafe barriers.replace(key, hash: hash, value, attributes, clock)
  }

  /// See ``Barriers/remove(_:_:)``.
  public func remove(_ key: UnsafeRawBufferPointer, _ clock: () -> ExpiryClock) throws(EngineError) -> Bool {
    try unsafe barriers.remove(key, clock)
  }

  /// See ``SingleWrites/set(_:_:_:timeoutNanoseconds:)``.
  public func set(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ attributes: ValueAttributes,
    timeoutNanoseconds: UInt64
  ) throws(EngineError) {
    try unsafe SingleWrites(segment: self).set(key, value, attributes, timeoutNanoseconds: timeoutNanoseconds)
  }

  /// As ``set(_:_:_:timeoutNanoseconds:)``, for a value with a type and no other attribute, as in ``put(_:_:type:)``.
  public func set(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, type: UInt8, timeoutNanoseconds: UInt64
  ) throws(EngineError) {
    try unsafe SingleWrites(segment: self).set(
      key, value, ValueAttributes(type: type), timeoutNanoseconds: timeoutNanoseconds)
  }

  /// See ``SingleWrites/remove(_:_:timeoutNanoseconds:)``.
  public func remove(
    _ key: UnsafeRawBufferPointer, _ clock: () -> ExpiryClock, timeoutNanoseconds: UInt64
  ) throws(EngineError) -> Bool {
    try unsafe SingleWrites(segment: self).remove(key, clock, timeoutNanoseconds: timeoutNanoseconds)
  }

  /// See ``Barriers/savepoint()``.
  public func savepoint() throws(EngineError) -> BarrierSavepoint { try barriers.savepoint() }

  /// See ``Barriers/rollback(to:)``.
  public func rollback(to savepoint: BarrierSavepoint) throws(EngineError) { try barriers.rollback(to: savepoint) }

  /// The version that this thread's barrier will commit; only inside one.
  public var versionInBarrier: UInt64 { barriers.version }

  /// The version of this thread's barrier of the whole table if others may share the barrier; else 0. Only inside one.
  public var sharedVersion: UInt64 { participant!.state.sharedVersion }

  /// Notes that others may share this thread's barrier. Before its end ``endSharing()`` is called.
  /// - Returns: its version.
  public func beginSharing() -> UInt64 {
    let state = participant!.state
    state.sharedVersion = state.version
    return state.version
  }

  /// See ``beginSharing()``.
  public func endSharing() { participant!.state.sharedVersion = 0 }

  /// Does a living thread of the process hold W? It may have changed hands by the time this returns.
  public func isWriter(_ process: Int32) -> Bool { participant?.lock.holder?.pid == process }

  /// See ``Barriers/note(_:)``.
  public func noteBarrier(_ label: BarrierLabel) { barriers.note(label) }

  /// See ``KeyedBarriers/begin(_:timeoutNanoseconds:commitTimeoutNanoseconds:)``.
  /// - Parameter commitTimeoutNanoseconds: nil = the same.
  public func beginKeyedBarrier(
    _ keys: [[UInt8]], timeoutNanoseconds: UInt64, commitTimeoutNanoseconds: UInt64? = nil
  ) throws(EngineError) {
    try keyedBarriers.begin(
      keys, timeoutNanoseconds: timeoutNanoseconds,
      commitTimeoutNanoseconds: commitTimeoutNanoseconds ?? timeoutNanoseconds)
  }

  /// See ``KeyedBarriers/beginAtOnce(_:timeoutNanoseconds:)``.
  public func beginKeyedBarrierAtOnce(_ keys: [[UInt8]], timeoutNanoseconds: UInt64) throws(EngineError) -> Bool {
    try keyedBarriers.beginAtOnce(keys, timeoutNanoseconds: timeoutNanoseconds)
  }

  /// See ``KeyedBarriers/commit()``.
  public func commitKeyedBarrier() throws(EngineError) -> UInt64 { try keyedBarriers.commit() }

  /// See ``KeyedBarriers/abort()``.
  public func abortKeyedBarrier() { keyedBarriers.abort() }
}

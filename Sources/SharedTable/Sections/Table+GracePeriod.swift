import TableEngine

extension Table {
  /// Returns when no read section that began before the call is left on the whole host: nobody uses any more what was removed
  /// from the table, or replaced in it, before the call.
  ///
  /// Blocks for other barriers, since it is an empty one itself, and then while such sections last (in the rwlock
  /// variant they end before the barrier begins). Sections of participants count, also of single reads and those on
  /// long snapshots; killed readers do not, and neither do observers, who announce nothing, nor a snapshot that
  /// nobody is reading. Readers pay nothing for it.
  /// - Parameter timeout: in all; nil = the table's.
  /// - Throws: `timedOut` naming a reader or the barrier waited for; `wouldDeadlock` inside a section of this table
  ///   on this thread; `notPermitted` (observer), `unsupported` (membarrier denied), and what a barrier throws.
  @available(*, noasync, message: "it blocks its thread until the readers have left")
  public func waitForReaders(timeout: Duration? = nil) throws(TableError) {
    let wait = Deadline(nanoseconds(timeout))
    // An empty version tells the sections apart that began before the call from those that begin after it.
    try beginBarrier(timeout)
    let version = segment.versionInBarrier
    segment.commitBarrier()
    try naming(try segment.waitForReaders(before: version, timeoutNanoseconds: wait.leftNanoseconds))
  }

  /// Runs `body` as `barrier(timeout:_:)` does, and returns when no read section that began before it committed is
  /// left: GCD's promise, which the RCU variant by itself does not make.
  ///
  /// Blocks like `barrier(timeout:_:)`, and after it like ``waitForReaders(timeout:)``: other barriers run meanwhile.
  /// - Parameters:
  ///   - waitingForReaders: false does not wait for them.
  ///   - timeout: for all waiting together, not for `body`; nil = the table's.
  ///   - body: gets the transaction, which is valid until it returns.
  /// - Throws: what a barrier throws, with nothing changed. `readersRemain` naming a reader, if the *changes are
  ///   committed* and some section did not end in time: do not run the barrier again, call ``waitForReaders(timeout:)``.
  @available(*, noasync, message: "it blocks its thread until the readers have left")
  public func barrier<R: ~Copyable>(
    waitingForReaders: Bool, timeout: Duration? = nil, _ body: (inout Transaction) throws -> R
  ) throws -> R {
    guard waitingForReaders else { return try barrier(timeout: timeout, body) }
    let wait = Deadline(nanoseconds(timeout))
    var (version, left): (UInt64, UInt64) = (0, 0)
    let result = try barrier(timeout: timeout) { tx throws in
      version = segment.versionInBarrier
      // What `body` takes is no wait.
      left = wait.leftNanoseconds
      return try body(&tx)
    }
    try waitAfterCommit(of: version, Deadline(left))
    return result
  }

  /// Waits for the readers of before `version`, whose barrier has committed.
  func waitAfterCommit(of version: UInt64, _ wait: Deadline) throws(TableError) {
    do throws(EngineError) {
      try segment.waitForReaders(before: version, timeoutNanoseconds: wait.leftNanoseconds)
    } catch {
      let reason = named(error)
      // The reason's own advice is to try again, and a barrier that is run again makes its changes twice.
      let why = reason.code == .timedOut ? TableError.naming(reason.holder) : " (\(reason.message))"
      throw TableError(
        .readersRemain, table: name,
        "the barrier is committed, but not every reader from before it has left\(why); do not run it again: 'waitForReaders' "
          + "waits for those readers", errno: reason.errno, holder: reason.holder)
    }
  }
}

import SharedMemory
import TableEngine

/// Tables that come back after a reboot: a daemon keeps a store of them (`durability` in shmd's configuration).
///
/// A barrier is committed when it returns: every process sees it, and no process that dies takes it away. Whether it outlives
/// the host is another question, which costs a disk's time: asked here.
extension Table {
  /// All barriers up to this version are on the disk; 0 if no store keeps the table. Never blocks, for observers as well.
  public var durableVersion: UInt64 { segment.durable }

  /// Waits until every barrier up to `version` is on the disk. A power cut does not take away what this returned for.
  ///
  /// Blocks the calling thread. The store decides when it writes: at once (`every-barrier`), or within its interval.
  ///
  /// ```swift
  /// try table.set("order", order)
  /// try table.waitUntilDurable(table.version)
  /// ```
  /// - Parameters:
  ///   - version: such as ``version``, loaded after what is to be durable was stored.
  ///   - timeout: nil = the table's.
  /// - Throws: `notDurable` if no store keeps the table, the store has failed, or was late; `wouldDeadlock` inside a section of
  ///   this table on this thread; `unlinked`, `forked`.
  @available(*, noasync, message: "blocks the thread; call it from one of your own")
  public func waitUntilDurable(_ version: UInt64, timeout: Duration? = nil) throws(TableError) {
    try naming(try segment.waitUntilDurable(version, timeoutNanoseconds: nanoseconds(timeout)))
  }

  /// Waits until every barrier up to `version` is on the disk. Suspends the task, and blocks no thread.
  /// - Throws: as the blocking form, but `wouldDeadlock`; `system` if no thread can be started that waits; `CancellationError`, promptly, when the
  ///   task is cancelled.
  nonisolated(nonsending) public func waitUntilDurable(_ version: UInt64, timeout: Duration? = nil) async throws {
    let deadline = Deadline(nanoseconds(timeout))
    var watch: Watch?
    while try !isDurable(version) {
      if deadline.isPast { throw named(.notDurable(.late(durable: segment.durable))) }
      try Task.checkCancellation()
      if watch == nil { watch = try Watch(self) }
      try await watch!.wait(for: .disk(version), deadline: deadline.instant, isolation: #isolation)
    }
  }

  /// Does somebody keep a store of the table? Also while he fails to, or has just ended.
  package var isStored: Bool { segment.keeping != .none }

  /// Would it come back from its store if it were dropped? Not if the store never held it: what lies in its place is another table's, or
  /// nothing.
  package var comesBackFromStore: Bool { isStored && durableVersion > 0 }

  /// Whether every barrier up to `version` is on the disk. Never blocks.
  /// - Throws: `notDurable` if they will not be: no store keeps the table, or the store has failed; `unlinked`.
  package func isDurable(_ version: UInt64) throws(TableError) -> Bool {
    do throws(EngineError) {
      if try segment.isDurable(version) { return true }
      try segment.checkLinked(now: HostClock.coarseNanoseconds)
      return false
    } catch {
      throw named(error)
    }
  }

  /// Waits as ``waitUntilDurable(_:timeout:)`` does.
  /// - Returns: false if the time was over.
  package func isDurable(_ version: UInt64, within timeout: Duration) throws(TableError) -> Bool {
    do {
      try segment.waitUntilDurable(version, timeoutNanoseconds: nanoseconds(timeout))
      return true
    } catch .notDurable(.late) {
      return false
    } catch {
      throw named(error)
    }
  }

  /// Runs a barrier, as `barrier(timeout:_:)` does, and returns when it is on the disk.
  ///
  /// Others see the barrier before that, and may begin theirs: the wait holds up nobody.
  /// - Parameters:
  ///   - durable: false does not wait.
  ///   - timeout: for the table, and again for the disk; nil = the table's.
  ///   - body: gets the transaction, which is valid until it returns.
  /// - Throws: what a barrier throws, with nothing changed. `notDurable` if the barrier *is committed* and not known to be on
  ///   the disk.
  @available(*, noasync, message: "blocks the thread; call it from one of your own")
  public func barrier<R: ~Copyable>(
    durable: Bool, timeout: Duration? = nil, _ body: (inout Transaction) throws -> R
  ) throws -> R {
    try beginBarrier(timeout)
    let version = segment.versionInBarrier
    let result = try runBarrier(body)
    if !durable { return result }
    do throws(TableError) { try waitUntilDurable(version, timeout: timeout) } catch {
      throw notKnownDurable(because: error)
    }
    return result
  }

  /// Runs a barrier from asynchronous code, and returns when it is on the disk.
  ///
  /// Waits for its turn as the awaited form of `barrier` does, and suspends until the barrier is
  /// on the disk.
  /// - Throws: what an asynchronous barrier throws, with nothing changed. `notDurable` if the barrier *is committed* and not known to
  ///   be on the disk, also when the task was cancelled meanwhile.
  nonisolated(nonsending) public func barrier<R: Sendable>(
    durable: Bool, timeout: Duration? = nil, _ body: @Sendable (inout Transaction) throws -> R
  ) async throws -> R {
    let (result, version) = try await awaitBarrier(timeout) { tx in (try body(&tx), self.segment.versionInBarrier) }
    if !durable { return result }
    do {
      try await waitUntilDurable(version, timeout: timeout)
    } catch let error as TableError {
      throw notKnownDurable(because: error)
    } catch is CancellationError {
      throw named(.notDurable(.late(durable: segment.durable)))
    }
    return result
  }

  /// What a barrier throws that is committed, if the wait for the disk ended with an error. Any other code than `notDurable` would say that
  /// nothing changed, and a barrier that is run again makes its changes twice.
  private func notKnownDurable(because error: TableError) -> TableError {
    if error.code == .notDurable { return error }
    return TableError(
      .notDurable, table: name,
      "the barrier is committed, and not known to be on the disk (\(error.message)); do not run it again",
      errno: error.errno,
      holder: error.holder)
  }
}

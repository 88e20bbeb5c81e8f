import SharedMemory
import TableEngine

/// A place in a table whose value is computed once on the host.
protocol ClaimedPlace: Sendable {
  associatedtype Value: TableValue
  var table: Table { get }
  /// What messages call it.
  var title: String { get }
  var claimKey: [UInt8] { get }
  /// Where its barriers run for tasks, and what nobody waits for.
  var queue: BarrierQueue { get }

  /// The value, if there is one. Waits no longer than that for the rwlock variant's barrier.
  func find(timeoutNanoseconds: UInt64) throws(TableError) -> Value?
  /// The value, if there is one, as a barrier sees it.
  func find(_ tx: borrowing Transaction) throws(TableError) -> Value?
  /// A barrier for a claim; what it does to a full table is the place's.
  func withBarrier<R>(
    timeout: Duration?, _ body: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R
  /// What a claim notes of the collection.
  func epoch(_ tx: borrowing Transaction) throws(TableError) -> UInt64
  /// Stores a computed value and removes its claim, in one barrier.
  /// - Returns: the value that everybody has now.
  func store(computed value: Value, releasing claim: ClaimRecord) throws(TableError) -> Value
}

extension ClaimedPlace {
  /// Finds the value or who computes it, or claims it.
  func claim(_ own: ClaimRecord) throws(TableError) -> ClaimOutcome<Value> {
    try withBarrier(timeout: nil) { tx throws(TableError) in
      if let value = try find(tx) { return .present(value) }
      if let other = try tx.claim(claimKey), try other.isLive(table) { return .held(other) }
      var own = own
      // The caller may have waited for another who computed.
      own.since = HostClock.monotonicNanoseconds
      own.epoch = try epoch(tx)
      try tx.setClaim(claimKey, own)
      return .claimed(own)
    }
  }

  /// Gives a claim up: the next who asks computes.
  ///
  /// A claim that stayed would stop everyone as long as this process lives. So further attempts follow, off this thread, if a
  /// writer, or a reader that keeps too much memory, is in the way, or the table is marked damaged: it may be repaired.
  func release(_ claim: ClaimRecord) {
    if !isReleased(claim, timeout: nil) { releaseLater(claim, timeout: nil, pause: .milliseconds(10)) }
  }

  /// Submits an attempt to release the claim, and another after each pause, until the claim is gone, or the table is. This process has to ask
  /// again and again: neither a reader that was in the way nor a repair tells it of its end.
  private func releaseLater(_ claim: ClaimRecord, timeout: Duration?, pause: Duration) {
    let repeats = { @Sendable in
      WorkerPool.shared.at(Deadline(pause)) {
        // Attempts wait shortly, for the queue has other work.
        releaseLater(claim, timeout: .milliseconds(10), pause: min(pause * 2, .seconds(1)))
      }
    }
    do throws(TableError) {
      try queue.submitJob { if !isReleased(claim, timeout: timeout) { repeats() } }
    } catch {
      if error.code == .queueFull { return repeats() }
      // A child whose parent used the queue's threads has none, nor a clock: on this thread after all.
      for _ in 0..<10 where isReleased(claim, timeout: nil) { return }
    }
  }

  /// Releases a claim that still stands.
  /// - Returns: whether it stands no longer, or this process cannot release it however long it tries.
  private func isReleased(_ claim: ClaimRecord, timeout: Duration?) -> Bool {
    do throws(TableError) {
      _ = try withBarrier(timeout: timeout) { tx throws(TableError) in try tx.releaseClaim(claimKey, claim) }
      return true
    } catch {
      return !error.mayEndByWaiting && error.code != .slotsExhausted && error.code != .damaged
    }
  }

  /// Stores the value computed, and removes the claim; if that fails, as ``release(_:)`` does.
  func conclude(_ claim: ClaimRecord, _ value: Value) throws(TableError) -> Value {
    do throws(TableError) {
      return try store(computed: value, releasing: claim)
    } catch {
      release(claim)
      throw error
    }
  }

  /// What a look without a barrier says of a value that another computes.
  func look(_ claim: ClaimRecord, timeoutNanoseconds: UInt64) throws(TableError) -> ClaimState<Value> {
    if let value = try find(timeoutNanoseconds: timeoutNanoseconds) { return .present(value) }
    let now = try table.withEntry(claimKey, timeoutNanoseconds: timeoutNanoseconds) { ClaimRecord($0) }
    guard let now, now == claim, try claim.isLive(table) else { return .gone }
    return .computing
  }

  /// The value that is there, for tasks.
  nonisolated(nonsending) func presentValue() async throws -> Value? {
    try await looking { timeout throws(TableError) in try find(timeoutNanoseconds: timeout) }
  }

  /// As ``look(_:timeoutNanoseconds:)``, for tasks.
  nonisolated(nonsending) func look(_ claim: ClaimRecord) async throws -> ClaimState<Value> {
    try await looking { timeout throws(TableError) in try look(claim, timeoutNanoseconds: timeout) }
  }

  /// What `body` sees, for tasks: it gets how long it may block its thread. In the rwlock variant a barrier may be in its way. Then it
  /// waits on a thread of the queue, which has its turn before a next barrier: a task that looked again after each barrier would come
  /// too late beside a writer whose barriers follow each other.
  nonisolated(nonsending) private func looking<R: Sendable>(
    _ body: @escaping @Sendable (_ timeoutNanoseconds: UInt64) throws(TableError) -> R
  ) async throws -> R {
    do throws(TableError) {
      return try body(0)
    } catch {
      guard error.isOfLookThatWouldWait else { throw error }
    }
    return try await queue.runReadJob(body)
  }

  func timedOut(_ claim: ClaimRecord) -> TableError {
    let holder = claim.holder
    return TableError(
      .timedOut, table: table.name,
      "timed out waiting for \(title), which \(holder.command), pid \(holder.pid), has been computing for "
        + "\((holder.heldNanoseconds ?? 0) / 1_000_000) ms; try again or allow more time",
      holder: holder)
  }

  var recursive: TableError {
    TableError(
      .wouldDeadlock, table: table.name,
      "\(title) is being computed by this thread, or by this task or one that started it; do not ask for it in the closure that computes it"
    )
  }
}

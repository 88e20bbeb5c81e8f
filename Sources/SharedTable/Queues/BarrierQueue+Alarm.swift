import Dispatch

/// For calls whose time counts while their work waits for its turn, too. A queue's work has no clock before a thread takes it up, and all threads
/// may be at work.
extension BarrierQueue {
  private static let clock = DispatchQueue(label: "SharedTable.turnClock")

  /// As ``perform(_:as:)``; work whose turn has not come by the deadline ends with `timedOut`, and is not done later.
  nonisolated(nonsending) func perform<R: Sendable>(_ work: Work, beginningBy deadline: Deadline) async throws -> R {
    // Where nobody would do the work, Dispatch would not ring either.
    try checkAsynchrony()
    let alarm = alarm(work, at: deadline)
    defer { alarm.cancel() }
    return try await perform(work)
  }

  /// - Returns: to be cancelled by the caller: until then Dispatch keeps it.
  private func alarm(_ work: Work, at deadline: Deadline) -> any DispatchSourceTimer {
    let alarm = DispatchSource.makeTimerSource(queue: Self.clock)
    // Weakly: with the queue it would keep the table, for some moments after the call has returned.
    alarm.setEventHandler { [weak self, weak work] in
      guard let self, let work else { return }
      giveUp(work)
    }
    // More than once: a barrier that a thread had taken up may have stepped back from the table.
    alarm.schedule(deadline: deadline.dispatchTime, repeating: .milliseconds(100))
    alarm.activate()
    return alarm
  }

  private func giveUp(_ work: Work) {
    // A thread that has taken it up waits no longer than the deadline, or for keys than the timeout anew, and says for whom.
    if withOrder({ _ in work.place == .gone }) { return }
    // Only such a queue's work waits for nothing but the table and a thread.
    let holder = isOfOneCall ? table.segment.barrierHolder : nil
    let error = TableError(
      .timedOut, table: table.name,
      "the time was over before this write's turn came\(TableError.naming(holder)); nothing was written, try again or allow more time",
      holder: holder)
    _ = cancel(work, failingWith: error)
  }
}

/// Errors of a queue: the table's, with what the queue is for people.
extension BarrierQueue {
  func labelled(_ error: TableError) -> TableError {
    guard let subject else { return error }
    return TableError(
      error.code, table: error.table, "\(subject): \(error.message)", errno: error.errno, holder: error.holder)
  }

  private func error(_ code: TableError.Code, _ message: String) -> TableError {
    labelled(TableError(code, table: table.name, message))
  }

  /// In a child that was forked since, the queue's lock may be locked for ever, and its threads are not there.
  @inline(__always)
  func checkProcess() throws(TableError) {
    if !table.isOfThisProcess { throw forked }
  }

  @inline(never)
  private var forked: TableError { labelled(table.named(.forked)) }

  /// G11: what would wait for the section that this thread is in.
  func checkOutsideSections(toDo what: String) throws(TableError) {
    if table.segment.threadSection != .none { throw wouldDeadlock(what) }
  }

  /// G11: what would wait for the work of this queue that this thread is doing. A value's coding may do so, which runs in a write of a cache.
  func checkOutsideOwnJob(toDo what: String) throws(TableError) {
    guard isInOwnJob else { return }
    throw error(
      .wouldDeadlock, "\(what) would wait for the write that this thread is doing; do it before or after that")
  }

  /// What waiting for this queue's work would end in, on this thread; nil if it may wait.
  package func deadlock(of what: String) -> TableError? {
    guard table.isOfThisProcess, table.segment.threadSection != .none else { return nil }
    return wouldDeadlock(what)
  }

  /// The version that the calling thread's barrier of the whole table will commit; nil outside one. No two barriers commit the same.
  package var versionOfOwnBarrier: UInt64? {
    segment.with { $0.isOfThisProcess && $0.isInWholeBarrier ? $0.versionInBarrier : nil }
  }

  func wouldDeadlock(_ what: String) -> TableError {
    let outer = table.segment.threadSection == .barrier ? "barrier" : "read section"
    return error(
      .wouldDeadlock,
      "\(what) would wait for the \(outer) of the table that this thread is in; use that section's view or transaction")
  }

  func full() -> TableError {
    error(.queueFull, "\(limit) asynchronous items are waiting; wait for some to finish, or use an `await` form")
  }

  /// Names who is in the way as far as that can be seen: whose barrier runs on the table, since our own may be waiting
  /// for that one, or which thread of this process reads.
  func timedOut(waitingFor what: String) -> TableError {
    let (isTurnOfBarrier, ahead, isSuspended) = withOrder { ($0.isTurnOfBarrier, $0.waiting.count, $0.suspensions > 0) }
    if isSuspended {
      return error(.timedOut, "timed out waiting for the queue, which is suspended; resume it, or allow more time")
    }
    let holder = isTurnOfBarrier ? table.segment.barrierHolder : table.segment.readerOfThisProcess
    let others = ahead == 0 ? "" : "; \(ahead) more are waiting"
    return labelled(
      TableError(
        .timedOut, table: table.name,
        "timed out waiting for \(what)\(TableError.naming(holder))\(others); try again or allow more time",
        holder: holder))
  }
}

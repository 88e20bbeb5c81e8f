import TableEngine

/// Barriers of a queue that are committed, and end when the readers of before have left. Under the queue's lock.
///
/// One lane waits for all of them: those before the oldest one have left first. If each took a lane, so would a long reader take all
/// lanes of the process.
struct ReaderWaits {
  struct Wait: Sendable {
    let work: BarrierWork
    /// The version of its commit.
    let version: UInt64
    let deadline: Deadline
  }

  /// The waits, in the order of their versions.
  private var waits: [Wait] = []
  private var isAwaited = false

  var count: Int { waits.count }

  /// - Returns: whether the calling lane is to wait for what ``next()`` gives; else another lane already does.
  mutating func add(_ wait: Wait) -> Bool {
    waits.append(wait)
    defer { isAwaited = true }
    return !isAwaited
  }

  /// The oldest version waited for, and the first deadline of all. Nil: the caller is to wait no more.
  mutating func next() -> (version: UInt64, deadline: Deadline)? {
    isAwaited = !waits.isEmpty
    guard let oldest = waits.first, let end = waits.lazy.map(\.deadline.instant).min() else { return nil }
    return (oldest.version, Deadline(at: end))
  }

  /// Takes out those that are over.
  ///
  /// `isOver` may look at the clock, so each is asked once: one that is over between two looks would be removed and never told.
  mutating func take(where isOver: (Wait) -> Bool) -> [Wait] {
    var over: [Wait] = []
    var left: [Wait] = []
    for wait in waits {
      if isOver(wait) { over.append(wait) } else { left.append(wait) }
    }
    waits = left
    return over
  }
}

extension BarrierQueue {
  /// How long it looks for the readers of one version without asking whether somebody with less time has come.
  private static var partNanoseconds: UInt64 { 20_000_000 }

  /// Waits for the readers, on a lane.
  func awaitReaders() {
    WorkerPool.shared.whileWaiting(for: table.segment) {
      while let (version, deadline) = withOrder({ $0.readerWaits.next() }) {
        let part = Deadline(at: deadline.instant(within: Self.partNanoseconds))
        var isTimedOut = false
        do throws(EngineError) {
          try table.segment.waitForReaders(before: version, timeoutNanoseconds: part.leftNanoseconds)
        } catch {
          if case .timedOut = error { isTimedOut = true }
        }
        for wait in withOrder({ order in
          order.endReaderWaits { isTimedOut ? $0.deadline.isPast : $0.version <= version }
        }) {
          end(wait)
        }
      }
    }
  }

  /// Ends a wait with a last look, which tells what is in the way.
  private func end(_ wait: ReaderWaits.Wait) {
    do throws(TableError) {
      try waitAfterCommit(of: wait.version, Deadline(at: 0))
      wait.work.tell()
    } catch {
      wait.work.fail(error)
    }
  }
}

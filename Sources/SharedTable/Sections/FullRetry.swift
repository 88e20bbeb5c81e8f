import CShims
import TableEngine

/// Whether a write for which the table had no room is tried again, and when.
///
/// A barrier that finds the table full undoes what it did and asks for reclaiming, with which the next barrier begins, be it this writer's
/// or another's. So one more attempt, at once, may find room, also if it is a removal, which needs some itself.
///
/// If a reader keeps the room that is missing and has been in the way for a moment only, its thread has most likely lost its processor
/// inside a `get`. Further attempts follow then, for as long as a reader that is not stalled may stand in the way
/// (``StalledReaderPolicy/patienceNanoseconds``), and no longer than the write's timeout. Between attempts W is free. Each one has it for
/// as long as making room takes, and so the pauses between them double.
///
/// Single writes are tried again so, those of collections and caches, and the awaited forms of both and of `Table.barrier`. A barrier
/// of the user's own that blocks is not, nor is one of a queue, nor a collection's blocking change that runs a closure of the caller's, such as
/// `mutate`: the closure may have done more than change the table.
///
/// One word, and passed on by value: the first attempt, which nearly always succeeds, keeps it in a register.
@usableFromInline
package struct FullRetry {
  /// When the waiting for readers ends, by the monotonic clock, but for its lowest four bits; 0 before the first pause. In those bits
  /// how many attempts have failed, up to 15.
  @usableFromInline let word: UInt64

  private init(failures: UInt64, deadline: UInt64) { word = deadline & ~15 | min(failures, 15) }

  /// The state before the first attempt.
  @inlinable @inline(__always)
  package init() { word = 0 }

  private var failures: UInt64 { word & 15 }
  private var deadline: UInt64 { word & ~15 }

  /// What comes after an attempt that has failed.
  /// - Parameter timeoutNanoseconds: the write's.
  /// - Returns: how long to pause before the next attempt, in nanoseconds, 0 = not at all. Nil: there is to be none.
  func next(after error: TableError, _ timeoutNanoseconds: UInt64) -> (retry: FullRetry, pause: UInt64)? {
    if failures == 0 { return error.mayFitInNextBarrier ? (FullRetry(failures: 1, deadline: 0), 0) : nil }
    guard error.mayFitOnceReaderGoesOn else { return nil }
    let patience = min(timeoutNanoseconds, StalledReaderPolicy.patienceNanoseconds)
    let deadline = failures == 1 ? Deadline(patience) : Deadline(at: deadline)
    // 1 ms, and each time twice as long.
    let pause = min(1_000_000 << (failures - 1), deadline.leftNanoseconds)
    if pause == 0 { return nil }
    return (FullRetry(failures: failures + 1, deadline: deadline.instant), pause)
  }

  /// Pauses before the next attempt; nil if there is to be none.
  @usableFromInline @inline(never)
  package func paused(after error: any Error, _ timeoutNanoseconds: UInt64) -> FullRetry? {
    guard let error = error as? TableError, let (retry, pause) = next(after: error, timeoutNanoseconds) else {
      return nil
    }
    if pause > 0 { shmos_sleep(pause) }
    return retry
  }
}

extension TableError {
  /// The table was full, and no reader keeps the room that is missing.
  package var mayFitAfterReclaiming: Bool { code == .full && holder == nil }

  /// The table was full, and the next barrier may find room: it begins with making some, and readers may have gone on by then, or be evicted.
  package var mayFitInNextBarrier: Bool { mayFitAfterReclaiming || contents.isReclaimable }

  /// It is `full`, and room may come without anybody's doing: readers end, /dev/shm is also others'.
  package var mayFitLater: Bool { code == .full && (holder != nil || contents.isReclaimable || errno == ENOSPC) }

  /// What is missing is reclaimable, but for a reader that is not stalled.
  fileprivate var mayFitOnceReaderGoesOn: Bool {
    contents.isReclaimable && !(holder.map(StalledReaderPolicy.isStalled) ?? false)
  }
}

/// Runs `attempt`, which is one barrier, until it succeeds or ``FullRetry`` says that there is to be no further one.
/// - Parameter timeoutNanoseconds: the write's: a bound to its wait for a reader that keeps the room.
@inlinable @inline(__always)
package func retryingWhenFull<R, Failure: Error>(
  _ timeoutNanoseconds: @autoclosure () -> UInt64 = .max, _ attempt: () throws(Failure) -> R
) throws(Failure) -> R {
  var retry = FullRetry()
  while true {
    do throws(Failure) {
      return try attempt()
    } catch {
      guard let next = retry.paused(after: error, timeoutNanoseconds()) else { throw error }
      retry = next
    }
  }
}

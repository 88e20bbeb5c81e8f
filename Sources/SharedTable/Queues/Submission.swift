/// One read or barrier on its way through a queue. What is mutable in it belongs to the queue's lock.
@usableFromInline
class Submission: @unchecked Sendable {
  // Sendable because everything mutable is touched under the queue's lock only.
  enum Kind { case read, barrier }

  enum Place {
    /// Not submitted yet.
    case new
    /// An `await` form for which there is no room yet.
    case outside
    /// In the queue: something submitted before has not finished.
    case waiting
    /// Its turn has come; asynchronous work that no thread has taken up yet.
    case ready
    /// Begun, or finished, or withdrawn before it began.
    case gone
  }

  let kind: Kind
  final var place = Place.new
  /// Grows in the order of submission.
  final var number: UInt64 = 0
  /// Its neighbours in a list, which holds them.
  fileprivate final unowned(unsafe) var next: Submission?
  fileprivate final unowned(unsafe) var previous: Submission?

  init(_ kind: Kind) { self.kind = kind }

  /// A thread waits for it; else it is asynchronous work.
  var waitingThread: WaitingThread? { nil }

  /// If it is an asynchronous barrier: it may share one of the table with those beside it.
  var barrier: BarrierWork? { nil }

  /// Asynchronous work only, on a worker thread: does it, its turn having come.
  func take(turnOf queue: BarrierQueue) {}
}

/// Submissions in order. Doubly linked, since one that gives up leaves from the middle.
///
/// It holds one reference to each of them; the links are addresses, for each counted link would cost two atomic operations
/// on the way in and two on the way out. What is still in it at its end stays in memory: that is so in forked children only.
struct SubmissionList {
  private unowned(unsafe) var head: Submission?
  private unowned(unsafe) var last: Submission?
  private(set) var count = 0

  var first: Submission? { unsafe head }

  mutating func append(_ submission: Submission) {
    _ = unsafe Unmanaged.passRetained(submission)
    if let last = unsafe last {
      unsafe last.next = submission
      unsafe submission.previous = last
    } else {
      unsafe head = submission
    }
    unsafe last = submission
    count += 1
  }

  mutating func remove(_ submission: Submission) {
    unlink(submission)
    unsafe Unmanaged.passUnretained(submission).release()
  }

  mutating func popFirst() -> Submission? {
    guard let first else { return nil }
    unlink(first)
    return unsafe Unmanaged.passUnretained(first).takeRetainedValue()
  }

  private mutating func unlink(_ submission: Submission) {
    let (previous, next) = unsafe (submission.previous, submission.next)
    if let previous { unsafe previous.next = next } else { unsafe head = next }
    if let next { unsafe next.previous = previous } else { unsafe last = previous }
    unsafe submission.previous = nil
    unsafe submission.next = nil
    count -= 1
  }
}

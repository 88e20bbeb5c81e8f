import Dispatch

/// One read or barrier on its way through a queue. What is mutable in it belongs to the queue's lock.
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
  fileprivate final var next: Submission?
  fileprivate final unowned var previous: Submission?

  init(_ kind: Kind) { self.kind = kind }

  /// A thread waits for it; else it is asynchronous work.
  var waitingThread: WaitingThread? { nil }
}

/// A `sync`: the calling thread sleeps until its turn and then runs the section itself.
final class WaitingThread: Submission, @unchecked Sendable {
  private let turn = DispatchSemaphore(value: 0)

  override var waitingThread: WaitingThread? { self }

  func wake() { turn.signal() }

  /// - Returns: whether the turn has come.
  func wait(_ deadline: Deadline) -> Bool { turn.wait(timeout: deadline.dispatchTime) == .success }
}

/// Submissions in order. Doubly linked, since one that gives up leaves from the middle.
struct SubmissionList {
  private(set) var first: Submission?
  private var last: Submission?
  private(set) var count = 0

  mutating func append(_ submission: Submission) {
    if let last {
      last.next = submission
      submission.previous = last
    } else {
      first = submission
    }
    last = submission
    count += 1
  }

  mutating func remove(_ submission: Submission) {
    let (previous, next) = (submission.previous, submission.next)
    if let previous { previous.next = next } else { first = next }
    if let next { next.previous = previous } else { last = previous }
    submission.previous = nil
    submission.next = nil
    count -= 1
  }

  mutating func popFirst() -> Submission? {
    guard let first else { return nil }
    remove(first)
    return first
  }
}

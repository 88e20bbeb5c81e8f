/// One read or barrier on its way through a queue. What is mutable in it belongs to the queue's lock.
@usableFromInline @safe
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
  /// It is a ``BarrierWork``, an asynchronous barrier: it may share one of the table with those beside it.
  final let isBarrierWork: Bool
  /// A ``BarrierWork`` that ends only when the readers of before have left. Here, where it takes no room of its own.
  final let waitsForReaders: Bool
  final var place = Place.new
  /// Grows in the order of submission.
  final var number: UInt64 = 0
  /// Its neighbours in a ``SubmissionList``, which holds them and alone changes these.
  final var next: Unmanaged<Submission>?
  final var previous: Unmanaged<Submission>?

  init(_ kind: Kind, isBarrierWork: Bool = false, waitsForReaders: Bool = false) {
    self.kind = kind
    self.waitsForReaders = waitsForReaders
    self.isBarrierWork = isBarrierWork
  }

  /// A thread waits for it; else it is asynchronous work.
  var waitingThread: WaitingThread? { nil }

  /// Whether its turn may wait for the table; in the RCU variant, where a plain read never does.
  var mayWaitForTable: Bool { true }

  /// If it is one.
  final var asBarrierWork: BarrierWork { unsafe unsafeDowncast(self, to: BarrierWork.self) }

  /// Asynchronous work only, on a worker thread: does it, its turn having come.
  func take(turnOf queue: BarrierQueue) {}

  /// Asynchronous work only, by the thread that ended it: wakes those who wait for it, and has errors that nobody awaits handled.
  func tell() {}
}

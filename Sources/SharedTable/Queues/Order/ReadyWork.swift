/// Asynchronous work whose turn has come, and which no thread has taken up yet: one barrier, or reads and barriers of keys, which may run in
/// any order.
///
/// In two lists, so that a read of the RCU variant is found at once behind barriers of keys, however many those are.
struct ReadyWork {
  /// What may wait for the table.
  private var waiting = SubmissionList()
  /// Reads of the RCU variant, which wait for nothing.
  private var reads = SubmissionList()

  var count: Int { waiting.count + reads.count }
  var readCount: Int { reads.count }
  /// The first that may wait for the table.
  var firstToWait: Submission? { waiting.first }

  mutating func append(_ work: Submission) {
    if work.mayWaitForTable { waiting.append(work) } else { reads.append(work) }
  }

  mutating func remove(_ work: Submission) {
    if work.mayWaitForTable { waiting.remove(work) } else { reads.remove(work) }
  }

  /// - Parameter isReadFirst: a read is wanted if there is one; else the order of submission decides.
  mutating func popFirst(isReadFirst: Bool) -> Submission? {
    guard let read = reads.first else { return waiting.popFirst() }
    if !isReadFirst, let other = waiting.first, other.number < read.number { return waiting.popFirst() }
    return reads.popFirst()
  }
}

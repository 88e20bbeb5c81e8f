/// Submissions in order. Doubly linked, since one that gives up leaves from the middle.
///
/// It holds one reference to each of them; the links are addresses, for each counted link would cost two atomic operations
/// on the way in and two on the way out. What is still in it at its end stays in memory: that is so in forked children only.
@safe
struct SubmissionList {
  private var head: Unmanaged<Submission>?
  private var last: Unmanaged<Submission>?
  private(set) var count = 0

  var first: Submission? { unsafe head?.takeUnretainedValue() }

  mutating func append(_ submission: consuming Submission) {
    let added = unsafe Unmanaged.passRetained(submission)
    if let last = unsafe last {
      unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = added }
      unsafe added._withUnsafeGuaranteedRef { unsafe $0.previous = last }
    } else {
      unsafe head = added
    }
    unsafe last = added
    count += 1
  }

  mutating func remove(_ submission: Submission) {
    unlink(submission)
    unsafe Unmanaged.passUnretained(submission).release()
  }

  /// Puts the submissions of another list before its own. The other one is not to be used any more.
  mutating func prepend(_ others: SubmissionList) {
    guard let end = unsafe others.last else { return }
    if let head = unsafe head {
      unsafe end._withUnsafeGuaranteedRef { unsafe $0.next = head }
      unsafe head._withUnsafeGuaranteedRef { unsafe $0.previous = end }
    } else {
      unsafe last = end
    }
    unsafe head = others.head
    count += others.count
  }

  /// Hands on the reference that the list holds, and counts none.
  mutating func popFirst() -> Submission? {
    guard let first = unsafe head else { return nil }
    unsafe first._withUnsafeGuaranteedRef { unlink($0) }
    return unsafe first.takeRetainedValue()
  }

  /// Empties the list, and calls `body` with each. Counts no reference.
  mutating func removeAll(_ body: (Submission) -> Void) {
    while let first = unsafe head {
      unsafe first._withUnsafeGuaranteedRef { submission in
        unlink(submission)
        body(submission)
      }
      unsafe first.release()
    }
  }

  /// Cuts off the first ones, as a list of their own. Counts no reference.
  /// - Parameter isWanted: the first of which that does not hold stays, and all behind it.
  mutating func cut(most: Int, while isWanted: (Submission) -> Bool) -> SubmissionList {
    var first = SubmissionList()
    var rest = unsafe head
    while first.count < most, let next = unsafe rest, unsafe next._withUnsafeGuaranteedRef(isWanted) {
      unsafe first.last = next
      first.count += 1
      unsafe rest = next._withUnsafeGuaranteedRef { unsafe $0.next }
    }
    guard let end = unsafe first.last else { return first }
    unsafe first.head = head
    unsafe end._withUnsafeGuaranteedRef { unsafe $0.next = nil }
    if let rest = unsafe rest {
      unsafe rest._withUnsafeGuaranteedRef { unsafe $0.previous = nil }
    } else {
      unsafe last = nil
    }
    unsafe head = rest
    count -= first.count
    return first
  }

  private mutating func unlink(_ submission: Submission) {
    let (previous, next) = unsafe (submission.previous, submission.next)
    if let previous = unsafe previous {
      unsafe previous._withUnsafeGuaranteedRef { unsafe $0.next = next }
    } else {
      unsafe head = next
    }
    if let next = unsafe next {
      unsafe next._withUnsafeGuaranteedRef { unsafe $0.previous = previous }
    } else {
      unsafe last = previous
    }
    unsafe submission.previous = nil
    unsafe submission.next = nil
    count -= 1
  }
}

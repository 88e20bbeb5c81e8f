import SharedMemory
import ToolSupport

/// Asks a store how long leases last, several at a time.
struct LeaseTTLQuery {
  /// So many are asked for between two checks.
  static let mostLeases = 1024
  /// And so many at a time.
  static let mostAtOnce = 32

  struct Answer {
    let lease: LeaseBook.ID
    /// In nanoseconds from `moment` on; nil: the store does not know it.
    let left: UInt64?
    let moment: UInt64
  }

  let session: any MirrorSession

  /// - Returns: nothing of a lease of which the store cannot tell just now: it stays the one to ask for.
  func ask(_ leases: [LeaseBook.ID]) async throws -> [Answer] {
    try await withThrowingTaskGroup(of: Answer?.self) { group in
      var rest = leases[...]
      for lease in rest.prefix(Self.mostAtOnce) { add(lease, to: &group) }
      rest = rest.dropFirst(Self.mostAtOnce)
      var answers: [Answer] = []
      while let answer = try await group.next() {
        if let answer { answers.append(answer) }
        if let lease = rest.popFirst() { add(lease, to: &group) }
      }
      return answers
    }
  }

  private func add(_ lease: LeaseBook.ID, to group: inout ThrowingTaskGroup<Answer?, any Error>) {
    let session = session
    group.addTask {
      let left: UInt64?
      switch try await session.timeLeft(ofLease: lease) {
      case .lasts(let duration): left = duration.clampedNanoseconds
      case .isUnknown: left = nil
      case .cannotBeToldNow: return nil
      }
      return Answer(lease: lease, left: left, moment: HostClock.monotonicNanoseconds)
    }
  }
}

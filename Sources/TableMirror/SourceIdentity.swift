import SharedTable

/// Judges by looks whether a store is still the one that a table is of.
///
/// A lower term alone is no proof. A member of an etcd that was sent its state as a snapshot tells the term of the last entry that it has
/// had of the log, until the next entry comes; other members have told a higher one meanwhile. Of an etcd that was put back to an old
/// copy all members tell a lower term, look after look.
struct SourceIdentity {
  enum Verdict: Equatable {
    case same
    /// Another look, at another process of the store if there is one, may tell.
    case unsure(String)
    case other(String)
  }

  /// Looks in a row of which nothing but the term was against the store.
  private var oldTerms = 0
  private let mostOldTerms: Int
  private static let leastOldTerms = 5

  /// - Parameter endpoints: so many there are, and one after the other is looked at.
  init(endpoints: Int) { mostOldTerms = max(Self.leastOldTerms, endpoints) }

  /// - Parameters:
  ///   - position: what a look has told.
  ///   - applied: the table's revision before the look.
  mutating func judge(_ position: SourcePosition, _ status: UpstreamStatus, applied: Int64) -> Verdict {
    if position.cluster != status.cluster {
      return .other(
        "it is another cluster (\(String(position.cluster, radix: 16)) instead of \(String(status.cluster, radix: 16)))"
      )
    }
    if position.revision < applied {
      return .other("its revision went back from \(applied) to \(position.revision)")
    }
    guard position.term < status.term else {
      oldTerms = 0
      return .same
    }
    oldTerms += 1
    let difference = "its term went back from \(status.term) to \(position.term), as that of an old copy"
    return oldTerms < mostOldTerms ? .unsure(difference) : .other(difference)
  }
}

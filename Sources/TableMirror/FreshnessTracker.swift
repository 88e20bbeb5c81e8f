/// Finds out as of which moment the table is known to be what the other store was. The status has that moment, and so the table's age.
///
/// A look tells that the store was at some revision no earlier than a moment. The table is known to be as new as that moment once an
/// event of that revision or a later one has come: events come in their order. Where nothing below the prefix changes none comes, and
/// the stream is asked how far it is. Releases of etcd up to 3.4.24 and 3.5.7 may answer ahead of events that are under way
/// (etcd#15220): so an answer counts when the next one has come too and no event that it overtook did in between. That is for the age
/// alone: never is anything resumed from such an answer.
struct FreshnessTracker {
  struct Look: Equatable {
    let revision: Int64
    /// Of the cluster's consensus.
    let term: UInt64
    let realtime: UInt64
    let monotonic: UInt64
  }

  private var asked: Look?
  /// The stream has said that it is there.
  private var answered: Look?
  /// How many answers came ahead of events.
  private(set) var overtaken = 0

  /// A look was taken, and the table holds events up to `applied`.
  /// - Parameter asks: if the table is not known to be so new, the stream is asked for this look. It stays the one that answers are
  ///   about until it is asked for another: one that is newer than the answer would never be known.
  /// - Returns: the look, if the table is known to be so new already.
  mutating func look(_ look: Look, applied: Int64, asks: Bool = true) -> Look? {
    if look.revision <= applied {
      (asked, answered) = (nil, nil)
      return look
    }
    if asks { asked = look }
    return nil
  }

  /// Events up to the revision `last` were applied, the first of them of `first`.
  /// - Returns: the newest look that the table is known to be as new as.
  mutating func apply(first: Int64, last: Int64) -> Look? {
    if let look = answered, first <= look.revision {
      overtaken += 1
      answered = nil
    }
    if let look = asked, look.revision <= last {
      (asked, answered) = (nil, nil)
      return look
    }
    if let look = answered, look.revision <= last {
      answered = nil
      return look
    }
    return nil
  }

  /// The stream has said that it is at a revision.
  /// - Returns: the look that the answer before this one was about.
  mutating func progress(_ revision: Int64) -> Look? {
    guard let look = asked, look.revision <= revision else { return nil }
    asked = nil
    defer { answered = look }
    return answered
  }
}

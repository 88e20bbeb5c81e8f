/// One operation of one process on a table: what it was called with, and what it returned.
///
/// Keys are numbers, and so are values; 0 is the value of an absent key. No two writes of a history write the same
/// value but 0, so a value tells who wrote it.
public struct Operation: Sendable {
  public enum Kind: UInt64, Sendable {
    /// One key, by a call that says nothing of versions.
    case single = 1
    /// Its writes carry the one version that it commits as.
    case barrier
    /// Its reads are of one snapshot.
    case section
    /// The same, but it may be as old as it likes: the snapshot was taken by an earlier section, or it is of a copy of the table
    /// that follows the table at its own pace (``Operation/replica``).
    case laterSection
  }

  public enum Outcome: UInt64, Sendable {
    case done = 1
    /// It threw, or never came to the point where it could take effect: nobody may see anything of it.
    case undone
    /// Its process was killed in it: it happened whole, or not at all.
    case pending
  }

  /// One look at a key, one change, or a change under a condition, in one step.
  public struct Access: Sendable {
    public var key: Int
    public var condition: Condition
    /// The value it writes; nil if it only reads.
    public var write: UInt64?
    /// The version that the value read is of, where the call told.
    public var version: UInt64?

    public init(key: Int, _ condition: Condition = .always, write: UInt64? = nil, version: UInt64? = nil) {
      self.key = key
      self.condition = condition
      self.write = write
      self.version = version
    }
  }

  /// What an access found out about the value that was there.
  public enum Condition: Sendable, Hashable {
    case always
    case equals(UInt64)
    case differs(UInt64)

    func holds(_ value: UInt64) -> Bool {
      switch self {
      case .always: true
      case .equals(let other): value == other
      case .differs(let other): value != other
      }
    }

    var negation: Condition {
      switch self {
      case .always: .always
      case .equals(let value): .differs(value)
      case .differs(let value): .equals(value)
      }
    }
  }

  public var process: Int
  public var kind: Kind
  public var outcome: Outcome
  /// Nanoseconds of CLOCK_MONOTONIC: before the call, and after it. Nil if it never returned.
  public var begin: UInt64
  public var end: UInt64?
  /// The version that a barrier commits as, or that a section shows.
  public var version: UInt64?
  /// The copy of the table that a section looked at, or that shows a barrier by the time at which that returns. Nil: the table itself.
  public var replica: Int?
  public var accesses: [Access]

  public init(
    process: Int, _ kind: Kind, _ outcome: Outcome = .done, begin: UInt64, end: UInt64?, version: UInt64? = nil,
    replica: Int? = nil, _ accesses: [Access]
  ) {
    self.process = process
    self.kind = kind
    self.outcome = outcome
    self.begin = begin
    self.end = end
    self.version = version
    self.replica = replica
    self.accesses = accesses
  }
}

extension Operation: CustomStringConvertible {
  public var description: String {
    let shown = accesses.prefix(4).map(\.description).joined(separator: ", ")
    let version = version.map { " of version \($0)" } ?? ""
    let replica = replica.map { " at copy \($0)" } ?? ""
    return "process \(process)'s \(kind)\(version)\(replica) (\(outcome), \(shown)\(accesses.count > 4 ? ", ..." : ""))"
  }
}

extension Operation.Access: CustomStringConvertible {
  public var description: String {
    var text = "key \(key)"
    switch condition {
    case .always: break
    case .equals(let value): text += " = \(value)"
    case .differs(let value): text += " is not \(value)"
    }
    if let write { text += " := \(write)" }
    return text
  }
}

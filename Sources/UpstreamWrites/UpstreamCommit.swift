/// What the store that a table mirrors is asked to change: all or nothing, and nothing if one of the premises does not hold.
///
/// Keys are the table's, without the prefix.
public struct UpstreamCommit: Sendable, Equatable {
  /// What became of it.
  public enum Outcome: Sendable, Equatable {
    /// It was made, as this revision. Nil: it was found to hold, and nothing was to change.
    case made(revision: Int64?)
    /// A premise does not hold: the store has changed since ``UpstreamCommit/revision``. Nothing was changed.
    case conflict
  }

  /// The revision at which the table was looked at.
  public var revision: Int64
  /// Keys that must be now as they were at ``revision``, and whether they were there.
  public var premises: [[UInt8]: Bool] = [:]
  /// New values; nil removes.
  public var changes: [[UInt8]: [UInt8]?] = [:]
  /// All keys that are not among ``changes`` are removed, too.
  public var removesOthers = false

  public init(at revision: Int64) { self.revision = revision }

  /// Whether there is nothing to be asked for.
  public var isEmpty: Bool { premises.isEmpty && !hasChanges }
  public var hasChanges: Bool { !changes.isEmpty || removesOthers }
}

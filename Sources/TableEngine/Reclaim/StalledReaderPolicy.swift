/// What a write does when readers keep more than the limbo budget from being reused. Whatever the policy, it waits for a section or a get that is
/// not stalled yet (``patienceNanoseconds``), at most its timeout. With ``evict`` it does not wait for a long snapshot.
public enum StalledReaderPolicy: UInt64, Sendable, CaseIterable, LosslessStringConvertible {
  /// Long snapshots fail with `snapshotTooOld`, the oldest first, until the others keep little enough; a read that has begun goes on. An open
  /// read section and a get keep what they look at: beside those it is as with `refuse`.
  case evict = 0
  /// Writes fail with `full`, naming the reader.
  case refuse = 1
  /// Writes wait for the readers to move on, at most their timeout; then they fail as with `refuse`.
  case wait = 2

  /// As configurations, commands and reports spell it.
  public var description: String {
    switch self {
    case .evict: "evict"
    case .refuse: "refuse"
    case .wait: "wait"
    }
  }

  public init?(_ description: String) {
    guard let found = Self.allCases.first(where: { $0.description == description }) else { return nil }
    self = found
  }

  /// For so long a reader may be in the way before it counts as stalled. A thread that lost its processor inside a `get` has it again
  /// by then, also in a container that has used up its share of a period of 100 ms.
  package static let patienceNanoseconds: UInt64 = 200_000_000

  /// Does a writer wait for this reader, which keeps more than the budget?
  func waits(for reader: Holder?) -> Bool {
    if self == .wait { return true }
    guard let reader else { return false }
    return !Self.isStalled(reader)
  }

  /// Has this reader been in the way for longer than writers are patient with?
  package static func isStalled(_ reader: Holder) -> Bool {
    // One that no scan has met before has just come.
    (reader.heldNanoseconds ?? 0) >= patienceNanoseconds
  }

  init(_ ctl: MappedMemory) {
    self = StalledReaderPolicy(rawValue: ctl.loadRelaxed(ControlLayout.stalledReaderPolicy)) ?? .refuse
  }
}

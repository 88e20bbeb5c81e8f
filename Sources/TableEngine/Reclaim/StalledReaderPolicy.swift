/// What happens when readers keep more than the limbo budget from being reused.
public enum StalledReaderPolicy: UInt64, Sendable, CaseIterable, LosslessStringConvertible {
  /// The oldest long snapshots that are not just being read fail with `snapshotTooOld`. An open read section and a get keep what
  /// they look at: beside those it is as with `refuse`.
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

  init(_ ctl: Memory) {
    self = StalledReaderPolicy(rawValue: ctl.loadRelaxed(ControlLayout.stalledReaderPolicy)) ?? .refuse
  }
}

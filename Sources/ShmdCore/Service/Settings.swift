import Synchronization

/// What a reload changes for the services that run.
final class Settings: Sendable {
  private struct State {
    var interval: Duration
    var refusal: String?
  }

  private let state: Mutex<State>

  init(_ configuration: Configuration) {
    state = Mutex(State(interval: configuration.interval))
  }

  var interval: Duration { state.withLock { $0.interval } }

  func accept(_ configuration: Configuration) {
    state.withLock { state in
      state.interval = configuration.interval
      state.refusal = nil
    }
  }

  /// Remembers that the file on disk is not what runs.
  func refuse(_ refusal: Refusal) {
    state.withLock { $0.refusal = refusal.problems.first?.description }
  }

  /// For the service manager's status line.
  func status(_ report: KeeperReport) -> String {
    guard let refusal = state.withLock({ $0.refusal }) else { return report.status }
    return "\(report.status); the configuration of before is in force, because \(refusal)"
  }
}

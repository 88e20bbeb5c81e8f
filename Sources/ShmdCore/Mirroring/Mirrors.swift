import EtcdSource
import Logging
import SharedTable
import Synchronization
import TableMirror
import UpstreamWrites

/// The mirrors of the tables that have an `upstream`, a task and a thread each. The table thread says which there are to be, and waits
/// for none of them.
final class Mirrors: UpstreamWriter {
  private let log: Logger
  private let makeSource: MirrorSourceMaker?
  private let writeSocket: WriteSocket?
  private let state = Mutex(State())

  private struct State {
    var running: [String: Running] = [:]
    /// Of tables that are to have none any more, until it is known that they have ended: by a table's name.
    var ending: [String: Task<Void, Never>] = [:]
  }

  private struct Running {
    let mirror: Mirror
    let configuration: UpstreamConfiguration
    let task: Task<Void, Never>
  }

  /// - Parameters:
  ///   - writeSocket: where writes are taken; nil: nowhere.
  ///   - makeSource: nil: there is none, and no configuration has an `upstream`.
  init(log: Logger, writeSocket: WriteSocket? = nil, makeSource: MirrorSourceMaker? = EtcdTrait.makeSource) {
    self.log = log
    self.writeSocket = writeSocket
    self.makeSource = makeSource
  }

  /// Keeps the mirrors of these tables, and no others.
  /// - Parameter retryStopped: those that have stopped are tried again: the configuration was read anew.
  func follow(_ tables: [(configuration: TableConfiguration, table: Table)], retryStopped: Bool = false) {
    let wanted = tables.filter { $0.configuration.upstream != nil && $0.table.isMirror && !$0.table.isObserver }
    state.withLock { state in
      for (name, old) in state.running where !wanted.contains(where: { $0.table.name == name }) {
        old.task.cancel()
        state.ending[name] = old.task
        state.running[name] = nil
      }
      for (configuration, table) in wanted {
        let upstream = configuration.upstream!
        let old = state.running[table.name]
        let isToGoOn = !retryStopped || old?.mirror.report.state != .stopped
        if let old, old.mirror.table === table, old.configuration == upstream, isToGoOn { continue }
        old?.task.cancel()
        let last = old?.task ?? state.ending.removeValue(forKey: table.name)
        state.running[table.name] = start(table, upstream, after: last)
      }
    }
  }

  /// Two mirrors of one table would get into each other's way: the next begins when the one before has ended.
  private func start(_ table: Table, _ upstream: UpstreamConfiguration, after last: Task<Void, Never>?) -> Running {
    let (name, log) = (table.name, log)
    let source = makeSource!(upstream.settings.address, upstream.access)
    var settings = upstream.settings
    settings.writeSocketPath = writeSocket?.path(forTable: name)
    let mirror = Mirror(table, settings, source: source) { Self.say($0, name, log) }
    let task = Task {
      await last?.value
      await mirror.run()
    }
    return Running(mirror: mirror, configuration: upstream, task: task)
  }

  /// How each stands, in the order of their names.
  var reports: [(table: String, report: MirrorReport)] {
    state.withLock(\.running).sorted { $0.key < $1.key }.map { ($0.key, $0.value.mirror.report) }
  }

  /// What is wrong just now, for the status line.
  var troubles: [String] {
    reports.compactMap { table, report in
      report.state == .following || report.problem.isEmpty ? nil : "'\(table)' does not follow: \(report.problem)"
    }
  }

  /// Ends all, side by side; returns when they have ended.
  func stop() async {
    let tasks = state.withLock { state in
      defer { state = State() }
      return state.running.values.map(\.task) + state.ending.values
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  // MARK: - Writes

  func session(ofTable name: String) throws(UpstreamRefusal) -> any UpstreamSession {
    guard let mirror = state.withLock({ $0.running[name]?.mirror }) else {
      throw .away("this shmd does not mirror it; see 'upstream' in its configuration")
    }
    return try mirror.session()
  }

  private static func say(_ news: MirrorNews, _ table: String, _ log: Logger) {
    switch news {
    case .following(let peer, let revision):
      log.notice("mirror follows", metadata: ["table": "\(table)", "peer": "\(peer)", "revision": "\(revision)"])
    case .away(let problem):
      log.warning(
        "mirror does not follow, it is tried again", metadata: ["table": "\(table)", "problem": "\(problem)"])
    case .stopped(let problem):
      log.error("mirror stopped, the table stays as it is", metadata: ["table": "\(table)", "problem": "\(problem)"])
    case .read(let revision, let keys, let stored, let removed):
      log.notice(
        "mirror has read the whole prefix",
        metadata: [
          "table": "\(table)", "revision": "\(revision)", "keys": "\(keys)", "stored": "\(stored)",
          "removed": "\(removed)",
        ])
    case .otherStore(let difference):
      log.warning(
        "mirror becomes that of another store", metadata: ["table": "\(table)", "difference": "\(difference)"])
    }
  }
}

import SharedMemory
import StatusServer
import Synchronization
import TableMetrics
import ToolSupport

/// The newest sample, and the pages made of it.
///
/// A page is made when it is first asked for, and once a sample: a thousand scrapes a second make no more work than one. Where no other sample
/// comes, the status is made for each request, and says for how long.
final class Monitor: Sendable {
  private struct State {
    var sample: HostSample
    /// Of this sample, by path.
    var made: [String: Page] = [:]
  }

  private let startup: Startup
  private let state: Mutex<State>

  /// - Parameter sample: the first, for tests.
  init(_ startup: Startup, sample: HostSample = HostSample()) {
    self.startup = startup
    state = Mutex(State(sample: sample))
  }

  var sample: HostSample { state.withLock { $0.sample } }

  /// Looks at all tables, one at a time.
  func take(from keeper: TableKeeper) async {
    let last = sample
    var next = HostSample(number: last.number + 1, history: last.history)
    for name in await keeper.names {
      let look = await keeper.sample(of: name)
      if let table = look.table { next.tables.append(table) }
      next.tookNanoseconds += look.nanoseconds
    }
    next.blocked = await keeper.blockedTables
    next.stores = keeper.stores.statuses
    next.storeTroubles = keeper.stores.troubles
    next.mirrors = keeper.mirrors.reports.map { MirrorSample(table: $0.table, $0.report) }
    next.mirrorTroubles = keeper.mirrors.troubles
    next.counters = keeper.counters.values
    next.takenNanoseconds = HostClock.monotonicNanoseconds
    next.wallNanoseconds = HostClock.realtimeNanoseconds
    next.history.add(next.tables, at: next.takenNanoseconds)
    let result = next
    state.withLock { $0 = State(sample: result) }
  }

  /// What is answered at a path; nil: there is nothing. Waits for nobody.
  func page(_ path: String, now: UInt64 = HostClock.monotonicNanoseconds) -> Page? {
    // These say what is true now: that a sample is old is what they are asked for.
    switch path {
    case "/health": return health(now)
    case "/ready": return ready
    case "/", "/status.json":
      let sample = sample
      if HealthReport.silence(since: sample, now: now) != nil { return Self.make(path, of: sample, now: now) }
    default: break
    }
    var (page, sample) = state.withLock { state in
      if let page = state.made[path] { return (page as Page?, state.sample) }
      let page = Self.make(path, of: state.sample, now: state.sample.takenNanoseconds)
      state.made[path] = page
      return (page, state.sample)
    }
    if path == "/metrics" { page?.body += DaemonMetrics.health(sample, now: now).utf8 }
    return page
  }

  private static func make(_ path: String, of sample: HostSample, now: UInt64) -> Page? {
    switch path {
    case "/": StatusPage.page(sample, now: now)
    case "/status.json": Page(contentType: "application/json", StatusJSON.text(of: sample, now: now))
    case "/metrics": Page(contentType: PrometheusText.contentType, Array(DaemonMetrics.text(sample).utf8))
    default: nil
    }
  }

  private func health(_ now: UInt64) -> Page {
    let sample = sample
    let reasons = HealthReport(sample, now: now).reasons
    guard !reasons.isEmpty else {
      return Page(status: 200, "ok, \(sample.tables.count) \(sample.tables.count == 1 ? "table" : "tables")")
    }
    return Page(status: 503, reasons.map(\.printable).joined(separator: "\n"))
  }

  /// What the service manager was told.
  private var ready: Page { startup.ready.isOpen ? Page(status: 200, "ready") : Page(status: 503, "starting") }
}

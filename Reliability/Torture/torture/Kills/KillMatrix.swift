import CTrace
import Glibc
import SharedTable
import TableEngine
import TestSupport

/// G5, G6, beside the living: a process is killed after each instruction of a window, and after each death two living
/// readers and two living writers must all make progress.
final class KillMatrix {
  private let run: Run
  private let window: KillWindow
  private let table: Table
  let peers: Peers
  private let server: Tracee
  /// Leaves a dead writer behind, whose recoverer is the victim.
  private let predecessor: Tracee?
  private var kills = 0
  private(set) var failures = 0

  /// Between two checks of the whole table.
  private static let killsPerCheck = 100

  init(_ run: Run, _ window: KillWindow, _ table: Table) throws {
    (self.run, self.window, self.table) = (run, window, table)
    let seconds = run.bounded(600, long: 24 * 3600)
    for index in 0..<502 { try table.set("k\(index)", 0) }
    peers = try Peers(table, timeoutSeconds: seconds)
    // Not the peers: they are to run beside the victim.
    _ = ct_stay_on_one_processor(true)
    func server(_ window: String) throws -> Tracee {
      let server = try Tracee(
        "kill-server", [table.name, window], options: Int32(CT_TRACE_FORK), timeoutSeconds: seconds)
      try server.runToMarker(Marker.turn)
      return server
    }
    self.server = try server(window.rawValue)
    predecessor = window == .recovery ? try server("inside") : nil
  }

  deinit { _ = ct_stay_on_one_processor(false) }

  /// Kills at all points that are chosen, one victim each.
  func perform() throws {
    let (profile, points) = try choosePoints()
    for point in points where try killOne(at: point, calls: profile.calls) {
      kills += 1
      try examine { try peers.progress() }
      if kills % Self.killsPerCheck == 0 { try checkTable() }
    }
    try checkTable()
    try peers.finish()
    let readers = table.statistics.readers.count
    try run.expect(readers <= 1, "\(readers) slots are held and only one thread is left")
    run.row(
      window.rawValue, "\(table.variant)", "\(profile.count)", "\(kills)", milliseconds(peers.longestMicroseconds),
      "\(failures)")
  }

  /// Every instruction if there is time for it; else each system call and each store that others see, with their
  /// neighbours, and as many of the rest as there is time for.
  private func choosePoints() throws -> (profile: Stage.Profile, points: [Int]) {
    let victim = try prepare()
    let profile = try victim.profile(WatchedTable(table.name))
    try victim.finish()
    try depart()
    let count = profile.count
    let limit = run.bounded(120, long: 20_000)
    if count <= limit { return (profile, Array(1...count)) }
    var generator = run.generator
    let stride = (count + limit - 1) / limit
    var points = Set(Swift.stride(from: 1 + generator.below(stride), through: count, by: stride))
    // Far behind a call a victim is long under way.
    let reach = run.bounded(5_000, long: .max)
    points = points.filter { point in point - (profile.calls.last { $0 < point } ?? 0) < reach }
    for store in profile.stores { points.formUnion([store - 1, store]) }
    points.formUnion(profile.calls)
    return (profile, points.filter { (1...count).contains($0) }.sorted())
  }

  /// - Returns: false if the window ended before the point.
  private func killOne(at point: Int, calls: [Int]) throws -> Bool {
    let victim = try prepare()
    let isInside = try victim.advance(point, calls: calls)
    try victim.kill()
    try depart()
    return isInside
  }

  /// A victim at the beginning of its window, and whoever waits for it.
  func prepare() throws -> Stage {
    if let predecessor {
      let dead = try fork(predecessor)
      try dead.runToMarker(Marker.begin)
      dead.kill()
      try settle(predecessor)
    }
    let victim = try Stage(fork(server), window)
    try awaitPeers()
    return victim
  }

  /// After the victim's end.
  func depart() throws {
    try settle(server)
    if window == .exitAwaited { try examine { try peers.endOneWriter() } }
    if window == .commitAwaited { try examine { try peers.end(.readers) } }
  }

  /// Where living ones wait for the victim: lets them begin, until they are seen to wait.
  private func awaitPeers() throws {
    switch window {
    case .exitAwaited:
      try peers.beginOneWriter()
      try awaitWord(RWLayout.writerWaiting)
    case .commitAwaited:
      table.segment.controlMemory!.storeRelease(RWLayout.hint, 0)
      try peers.begin(.readers)
      try awaitWord(RWLayout.hint)
    default: break
    }
  }

  /// Returns when a peer has set the word; one that never does has died or hangs.
  private func awaitWord(_ offset: Int) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      if table.segment.controlMemory!.loadAcquire(offset) != 0 { return }
      sched_yield()
    }
    throw Unavailable("no peer came to wait within a minute")
  }

  /// A broken promise, with the point at which it broke.
  func examine(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      failures += 1
      try run.expect(false, "\(window.rawValue)-\(table.variant), after kill \(kills): \(error)")
      // Who was to answer may be gone.
      throw error
    }
  }

  func checkTable() throws {
    let problems = try table.check()
    if !problems.isEmpty { failures += 1 }
    try run.expect(problems.isEmpty, "\(window.rawValue)-\(table.variant), after kill \(kills): \(problems.prefix(3))")
  }

  // MARK: - Processes

  private func fork(_ server: Tracee) throws -> Tracee {
    var stop = try server.next(.run)
    while case .signal = stop { stop = try server.next(.run) }
    guard case .event(Int32(CT_EVENT_FORK), let child) = stop else { throw server.failure("did not fork: \(stop)") }
    let tracee = try Tracee(forkedBy: server, child)
    try server.resume(.run, tid: server.pid)
    return tracee
  }

  /// The end of its child is a signal to the server, which then comes to its next turn.
  private func settle(_ server: Tracee) throws {
    _ = try server.wait(tid: server.pid)
    try server.runToMarker(Marker.turn)
  }
}

func milliseconds(_ microseconds: Int) -> String {
  "\(microseconds / 1000).\(microseconds / 100 % 10)"
}

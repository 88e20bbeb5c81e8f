public import SharedTable
import SharedMemory
import Synchronization
import ToolSupport
public import UpstreamWrites

/// Keeps one table what a part of another store is, until it is stopped.
///
/// One task runs it, and all work on the table is done on one thread of its own. Only how the store is talked to is the source's.
public actor Mirror {
  public nonisolated let table: Table
  public nonisolated let settings: MirrorSettings
  private let source: any MirrorSource
  private let onNews: @Sendable (MirrorNews) -> Void
  private let executor = ThreadExecutor(named: "shmd-mirror")
  private nonisolated let published = Mutex(MirrorReport())
  /// The session that follows.
  private nonisolated let current = Mutex<(any MirrorSession)?>(nil)
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private var replica: TableReplica?
  private var assembler = RevisionAssembler(after: 0)
  private var freshness = FreshnessTracker()
  private var identity: SourceIdentity
  /// Events are not enough: the whole prefix is to be read.
  private var mustRead = false
  /// The prefix is to be read although the store is another one than the table is of: the settings allow that, and the log tells of it.
  private var acceptsOtherStore = false
  /// Since when this session follows; nil: it does not yet.
  private var followsSince: ContinuousClock.Instant?

  private static let mostReads = 5
  /// Progress is asked for no more often, however often the store is looked at: each request goes on the stream of events, and a
  /// connection on which much is asked is cut (Decisions, "progress", in EtcdSource/DESIGN.md).
  static let leastRequestInterval = Duration.milliseconds(500)

  /// - Parameters:
  ///   - table: was made to be a mirror.
  ///   - onNews: is told what happens, for a log, once each.
  public init(
    _ table: Table, _ settings: MirrorSettings, source: any MirrorSource,
    onNews: @escaping @Sendable (MirrorNews) -> Void
  ) {
    self.table = table
    self.settings = settings
    self.source = source
    identity = SourceIdentity(endpoints: settings.address.endpoints.count)
    self.onNews = onNews
  }

  /// How it stands. Never blocks.
  public nonisolated var report: MirrorReport { published.withLock { $0 } }

  /// The session by which it follows, for who writes to the store. Never blocks.
  /// - Throws: `away` if it does not follow.
  public nonisolated func session() throws(UpstreamRefusal) -> any UpstreamSession {
    if let session = current.withLock({ $0 }) { return session }
    let report = report
    // The report comes later than the end of a session.
    guard report.state != .following else { throw .away("its mirror connects anew") }
    throw .away("its mirror is \(report.state)\(report.problem.isEmpty ? "" : " (\(report.problem))")")
  }

  /// Mirrors until the task is cancelled, or until nothing will change without somebody's doing.
  public func run() async {
    var backOff = settings.backOff
    var attempt = 0
    while !Task.isCancelled {
      let failure = await followOnce(attempt)
      if Task.isCancelled { break }
      if case .stopped = failure {
        note(.stopped, failure)
        return
      }
      if failure == .compacted { mustRead = true }
      // One that the store ends as soon as it follows is not tried at full speed.
      if let followsSince, .now - followsSince > settings.backOff.longest { backOff.reset() }
      note(.away, failure)
      attempt += 1
      try? await Task.sleep(for: backOff.next())
    }
    let reason = "nobody mirrors it any more: shmd has stopped, or its configuration was changed"
    setState(.away, reason)
    try? replica?.note(.away, reason)
    publish()
  }

  /// One session, from its begin to its end. What is in the way at its begin may have gone at the next one's.
  private func followOnce(_ attempt: Int) async -> MirrorFailure {
    followsSince = nil
    do {
      try begin()
      try await source.withSession(attempt) { session in try await self.follow(session) }
      return .away("the connection has ended")
    } catch let failure as MirrorFailure {
      return failure
    } catch {
      return .away("\(error)")
    }
  }

  // MARK: - A session

  /// Looks where the table is: at each session, for somebody else may have mirrored into it.
  private func begin() throws(MirrorFailure) {
    do throws(TableError) { replica = try TableReplica(table, settings) } catch {
      throw MirrorFailure(error, "the mirror's state")
    }
    let status = replica!.status
    if status.isUnread || status.revision == 0 { mustRead = true }
    publish()
  }

  private func follow(_ session: any MirrorSession) async throws {
    // Leases are not in the table, and what has expired in it meanwhile may live over there.
    if settings.leases == .expire { mustRead = true }
    let taken = try await look(at: session)
    try checkIdentity(taken)
    if mustRead { try await readAll(session, after: taken.position) }
    let next = replica!.status.revision + 1
    // What goes and what comes in one revision may both be as much as the table holds, and keys have the prefix besides.
    assembler = RevisionAssembler(after: next - 1, mostBytes: 4 * table.capacityBytes)
    freshness = FreshnessTracker()
    try replica!.moveExpiries()
    // Also where it says so already: the settings may be others than those of who mirrored before.
    try replica!.note(.following, term: taken.position.term)
    setState(.following)
    current.withLock { $0 = session }
    defer { current.withLock { $0 = nil } }
    followsSince = .now
    count(\.sessions)
    publish()
    onNews(.following(peer: session.peer, revision: next - 1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await session.watch(from: next) { answer in try await self.receive(answer) }
        throw MirrorFailure.away("the stream of events has ended")
      }
      group.addTask { try await self.keepLooking(session) }
      if settings.leases == .expire {
        group.addTask { try await self.keepAskingForLeases(session) }
        group.addTask { try await self.keepMovingExpiries() }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Looks whether the store is the one that the table is of, and no older. If not, it is to be read, or the mirror stops.
  private func checkIdentity(_ taken: SourceLook) throws(MirrorFailure) {
    let (status, position) = (replica!.status, taken.position)
    if status.revision == 0 || acceptsOtherStore { return }
    let difference: String
    switch identity.judge(position, status, applied: taken.applied) {
    case .same: return
    case .unsure(let why): throw .away("it may not be the store that the table is of: \(why); it is looked at again")
    case .other(let why): difference = why
    }
    guard settings.resync == .always else {
      throw .stopped(
        "the other store is not the one that the table is of: \(difference); if it is to be read all the same, set 'resync: always' "
          + "below its 'upstream' and have shmd read its configuration again")
    }
    onNews(.otherStore(difference))
    (mustRead, acceptsOtherStore) = (true, true)
  }

  /// Reads the whole prefix at one revision and makes the table that.
  /// - Parameter look: where the store was by the look that was compared with the table.
  private func readAll(_ session: any MirrorSession, after look: SourcePosition) async throws {
    for _ in 0..<Self.mostReads {
      let before = (HostClock.realtimeNanoseconds, HostClock.monotonicNanoseconds)
      do {
        let reader = ContentReader(
          session, prefixLength: settings.address.prefix.count, mostBytes: table.capacityBytes)
        let contents = try await reader.read(after: look)
        let position = contents.position
        let asOf = FreshnessTracker.Look(
          revision: position.revision, term: position.term, realtime: before.0, monotonic: before.1)
        let (stored, removed) = try replica!.replace(with: contents, asOf: asOf)
        (mustRead, acceptsOtherStore) = (false, false)
        count(\.reads)
        publish()
        onNews(.read(revision: position.revision, keys: contents.count, stored: stored, removed: removed))
        return
      } catch MirrorFailure.compacted {
        // Its revision was compacted away between two pages.
        continue
      }
    }
    throw MirrorFailure.away("the prefix was compacted \(Self.mostReads) times while it was read")
  }

  private func receive(_ answer: WatchAnswer) throws(MirrorFailure) {
    if answer.position.cluster != replica!.status.cluster { throw .away("another cluster answers") }
    let revisions = try assembler.add(answer)
    for revision in revisions { try replica!.apply(revision) }
    count(\.revisions, UInt64(revisions.count))
    count(\.changes, UInt64(revisions.reduce(0) { $0 + $1.events.count }))
    var look: FreshnessTracker.Look?
    if let first = revisions.first, let last = revisions.last {
      look = freshness.apply(first: first.number, last: last.number)
    } else if answer.events.isEmpty {
      look = freshness.progress(answer.position.revision)
    }
    if let look { try replica!.note(asOf: look) }
    publish()
  }

  // MARK: - Looks

  private func keepLooking(_ session: any MirrorSession) async throws {
    var lastRequest: ContinuousClock.Instant?
    while true {
      try await Task.sleep(for: settings.checkInterval)
      let taken = try await look(at: session)
      try checkIdentity(taken)
      if mustRead { throw MirrorFailure.away("the other store is not the one that the table is of; it is read anew") }
      let asks = lastRequest.map { .now - $0 >= Self.leastRequestInterval } ?? true
      if let known = freshness.look(taken.look, applied: replica!.status.revision, asks: asks) {
        try replica!.note(asOf: known)
        publish()
      } else if asks {
        lastRequest = .now
        await session.requestProgress()
      }
    }
  }

  /// A look at where the store is.
  private struct SourceLook {
    let look: FreshnessTracker.Look
    let position: SourcePosition
    /// The table's revision before it: events may have come since.
    let applied: Int64
  }

  private func look(at session: any MirrorSession) async throws -> SourceLook {
    let applied = replica!.status.revision
    let (realtime, monotonic) = (HostClock.realtimeNanoseconds, HostClock.monotonicNanoseconds)
    let position = try await session.position()
    let look = FreshnessTracker.Look(
      revision: position.revision, term: position.term, realtime: realtime, monotonic: monotonic)
    return SourceLook(look: look, position: position, applied: applied)
  }

  // MARK: - Leases

  /// Asks how long leases last: what keeps them alive makes no events.
  private func keepAskingForLeases(_ session: any MirrorSession) async throws {
    while true {
      let answers = try await LeaseTTLQuery(session: session).ask(replica!.dueLeases(limit: LeaseTTLQuery.mostLeases))
      replica!.note(answers)
      try replica!.moveExpiries()
      publish()
      try await Task.sleep(for: settings.checkInterval)
    }
  }

  /// Waits for no answer: as long as it is not known that the store is away, no key ends by itself, however slow it is.
  private func keepMovingExpiries() async throws {
    while true {
      try await Task.sleep(for: settings.checkInterval)
      try replica!.moveExpiries()
    }
  }

  // MARK: - State

  /// Tells the table and the log that it does not follow, and why.
  private func note(_ state: UpstreamStatus.State, _ failure: MirrorFailure) {
    let problem = "\(failure)"
    let isNews = setState(state, problem)
    // Readers are told by the table, if it takes that; its age tells them in any case.
    try? replica?.note(state, problem)
    publish()
    if isNews { onNews(state == .stopped ? .stopped(problem) : .away(problem)) }
  }

  /// How the mirror stands is not for the table to say: whoever mirrored before may have been killed while it followed.
  /// - Returns: whether the state or the problem is another than before.
  @discardableResult
  private func setState(_ state: UpstreamStatus.State, _ problem: String = "") -> Bool {
    published.withLock { report in
      defer { (report.state, report.problem) = (state, problem) }
      return report.state != state || report.problem != problem
    }
  }

  private func publish() {
    guard let status = replica?.status else { return }
    published.withLock { $0.status = status }
  }

  private func count(_ counter: WritableKeyPath<MirrorReport, UInt64>, _ number: UInt64 = 1) {
    published.withLock { $0[keyPath: counter] += number }
  }
}

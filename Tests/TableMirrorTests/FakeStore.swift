import Synchronization
import TableMirror
import UpstreamWrites

/// A store with revisions, as etcd has them, in memory; tests decide what becomes of it, and of what it sends.
final class FakeStore: MirrorSource {
  struct State {
    var cluster: UInt64 = 7
    var term: UInt64 = 3
    var revision: Int64 = 1
    var values: [[UInt8]: [UInt8]] = [:]
    var history: [(number: Int64, events: [SourceEvent])] = []
    /// Keys that have a lease, and how long each lease lasts from the moment on at which somebody asks; one that is not here is not
    /// known. None of them ends by itself.
    var leaseOf: [[UInt8]: Int64] = [:]
    var leases: [Int64: Duration] = [:]
    /// Who asks for a lease gets no answer until this is false again.
    var hidesLeases = false
    /// So many times the store cannot say how long the lease lasts.
    var leasesUntold: [Int64: Int] = [:]
    var leasesAsked: [Int64] = []
    var asksAtOnce = 0
    var mostAsksAtOnce = 0
    /// Revisions up to this one are not told any more.
    var compacted: Int64 = 0
    var isDown = false
    var reasonToBeDown = "the store is down"
    /// Is reached, and does not say where it is.
    var refusesLooks = false
    /// Called when the answer to a look is on its way, without the lock.
    var afterLook: (@Sendable () async throws -> Void)?
    /// Is looked at, and ends each watch at once.
    var refusesWatches = false
    /// Called before each session, without the lock, and also where there is none.
    var beforeSession: (@Sendable () -> Void)?
    /// At most so many keys and values an answer has room for.
    var largestPage = Int.max
    /// More takes longer than a call may.
    var largestPageInTime = Int.max
    var sessions = 0
    var watches: [Int: AsyncThrowingStream<WatchAnswer, any Error>.Continuation] = [:]
    var waiting: [WatchAnswer] = []
    /// From which revision each watch was asked for.
    var asked: [Int64] = []
    var pages = 0
    /// Called before each page, without the lock.
    var beforePage: (@Sendable (Int) -> Void)?
    /// Events are not told by themselves: tests send what they like.
    var isSilent = false
    /// What hosts asked to be changed, in their order.
    var commits: [UpstreamCommit] = []
    /// Called before each of these is judged, without the lock.
    var beforeCommit: (@Sendable (UpstreamCommit) -> Void)?
    /// What each of these is refused for.
    var refusal: UpstreamRefusal?
    /// They are made, and the connection breaks before that is told.
    var losesAnswers = false
    /// They are made, and no answer comes.
    var keepsAnswers = false
  }

  let state = Mutex(State())
  private let begun = AsyncStream<Void>.makeStream()

  // MARK: - What users of the store do

  /// Changes keys in one revision; nil removes.
  @discardableResult
  func commit(_ changes: [(key: String, value: String?)]) -> Int64 {
    commit(changes.map { (Array($0.key.utf8), $0.value.map { Array($0.utf8) }) })
  }

  @discardableResult
  func commit(_ changes: [(key: [UInt8], value: [UInt8]?)]) -> Int64 { state.withLock { $0.commit(changes) } }

  func value(_ key: String) -> String? {
    state.withLock { $0.values[Array(key.utf8)] }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Stores keys with a lease, in one revision.
  @discardableResult
  func commit(_ keys: [String], lease: Int64, value: String = "v") -> Int64 {
    state.withLock { state in
      state.commit(keys.map { (Array($0.utf8), Array(value.utf8)) }, lease: lease)
    }
  }

  func set(lease: Int64, left: Duration?) { state.withLock { $0.leases[lease] = left } }

  /// Revisions pass in which nothing below any prefix changes.
  func pass(_ count: Int64) { state.withLock { $0.revision += count } }

  func compact() { state.withLock { $0.compacted = $0.revision } }

  // MARK: - What becomes of it

  func breakConnections() {
    state.withLock { state in
      for watch in state.watches.values { watch.finish(throwing: MirrorFailure.away("the connection broke")) }
      state.watches = [:]
    }
  }

  func set(isDown: Bool) {
    state.withLock { $0.isDown = isDown }
    if isDown { breakConnections() }
  }

  /// Sends an answer to all who watch, or to the next who does.
  func send(_ answer: WatchAnswer) {
    state.withLock { state in
      if state.watches.isEmpty { state.waiting.append(answer) }
      for watch in state.watches.values { watch.yield(answer) }
    }
  }

  var position: SourcePosition { state.withLock(\.position) }
  var asked: [Int64] { state.withLock(\.asked) }

  /// Returns when somebody has begun to watch, since the last call.
  func waitForWatch() async { for await _ in begun.stream { return } }

  fileprivate func watchHasBegun() { begun.continuation.yield() }

  // MARK: - MirrorSource

  func withSession(_ attempt: Int, _ body: @Sendable (any MirrorSession) async throws -> Void) async throws {
    state.withLock(\.beforeSession)?()
    try checkUp()
    let number = state.withLock { state in
      state.sessions += 1
      return state.sessions
    }
    try await body(FakeSession(store: self, number: number))
  }

  fileprivate func checkUp() throws {
    let reason = state.withLock { $0.isDown ? $0.reasonToBeDown : nil }
    if let reason { throw MirrorFailure.away(reason) }
  }
}

extension FakeStore.State {
  var position: SourcePosition { SourcePosition(cluster: cluster, revision: revision, term: term) }

  mutating func commit(_ changes: [(key: [UInt8], value: [UInt8]?)], lease: Int64 = 0) -> Int64 {
    revision += 1
    let number = revision
    for change in changes {
      values[change.key] = change.value
      leaseOf[change.key] = lease == 0 ? nil : lease
    }
    let events = changes.map { SourceEvent(key: $0.key, value: $0.value, revision: number, lease: lease) }
    history.append((number, events))
    if !isSilent { for watch in watches.values { watch.yield(WatchAnswer(position: position, events: events)) } }
    return number
  }

  /// Judges and makes what a host asks for, as etcd does.
  fileprivate mutating func make(_ commit: UpstreamCommit, below prefix: [UInt8]) -> UpstreamCommit.Outcome {
    commits.append(commit)
    for (key, isPresent) in commit.premises {
      let last = history.last { $0.events.contains { $0.key == prefix + key } }?.number ?? 0
      // Of a key that was removed nothing is known.
      let isThere = values[prefix + key] != nil
      if isThere != isPresent || (isThere && last > commit.revision) { return .conflict }
    }
    var changes = commit.changes.map { (key: prefix + $0.key, value: $0.value) }
    if commit.removesOthers {
      changes += values.keys.filter { key in
        key.starts(with: prefix) && key.count > prefix.count && !changes.contains { $0.key == key }
      }.map { ($0, nil) }
    }
    changes.removeAll { $0.value == nil && values[$0.key] == nil }
    return .made(revision: changes.isEmpty ? nil : self.commit(changes))
  }

  /// The keys at a revision that is not the newest are the newest ones without what came since: tests do not remove then.
  fileprivate func keys(at wanted: Int64) -> [[UInt8]] {
    let later = Set(history.filter { $0.number > wanted }.flatMap { $0.events.map(\.key) })
    return values.keys.filter { wanted == 0 || !later.contains($0) }.sorted { $0.lexicographicallyPrecedes($1) }
  }
}

extension FakeStore {
  /// Runs `body` before the first commit that concerns a key is judged.
  func once(before key: String, _ body: @escaping @Sendable () -> Void) {
    let key = Array(key.utf8)
    state.withLock { state in
      state.beforeCommit = { commit in
        guard commit.premises[key] != nil || commit.changes[key] != nil else { return }
        self.state.withLock { $0.beforeCommit = nil }
        body()
      }
    }
  }

  /// Somebody else stores another value under a key before each commit is judged.
  func changesBeforeEachCommit(_ key: String) {
    let number = Atomic(0)
    state.withLock { state in
      state.beforeCommit = { _ in self.commit([(key, "\(number.add(1, ordering: .relaxed).newValue)")]) }
    }
  }
}

struct FakeSession: MirrorSession {
  let store: FakeStore
  let number: Int
  var peer: String { "fake:\(number)" }
  private static let prefix = Array("app/".utf8)

  func position() async throws -> SourcePosition {
    try store.checkUp()
    if store.state.withLock(\.refusesLooks) { throw MirrorFailure.away(store.state.withLock(\.reasonToBeDown)) }
    let position = store.position
    try await store.state.withLock(\.afterLook)?()
    return position
  }

  func read(
    into page: ContentPage, after key: [UInt8]?, at revision: Int64, limit: Int
  ) async throws -> (position: SourcePosition, hasMore: Bool) {
    try store.checkUp()
    let (count, before) = store.state.withLock { state in
      state.pages += 1
      return (state.pages, state.beforePage)
    }
    before?(count)
    return try store.state.withLock { state in
      if revision > 0, revision <= state.compacted, revision < state.revision { throw MirrorFailure.compacted }
      let keys = state.keys(at: revision).filter { candidate in
        candidate.starts(with: Self.prefix) && candidate.count > Self.prefix.count
          && (key.map { $0.lexicographicallyPrecedes(candidate) } ?? true)
      }
      let bytes = keys.prefix(limit).reduce(0) { $0 + state.values[$1]!.count }
      if bytes > state.largestPage { throw MirrorFailure.answerTooLarge }
      if bytes > state.largestPageInTime { throw MirrorFailure.noAnswerInTime("the link is slow") }
      for key in keys.prefix(limit) {
        page.append(key: key, value: state.values[key]!, lease: state.leaseOf[key] ?? 0)
      }
      return (state.position, keys.count > limit)
    }
  }

  func timeLeft(ofLease lease: Int64) async throws -> LeaseTTL {
    try store.checkUp()
    store.state.withLock { state in
      state.leasesAsked.append(lease)
      state.asksAtOnce += 1
      state.mostAsksAtOnce = max(state.mostAsksAtOnce, state.asksAtOnce)
    }
    defer { store.state.withLock { $0.asksAtOnce -= 1 } }
    await Task.yield()
    while store.state.withLock(\.hidesLeases) { try await Task.sleep(for: .milliseconds(1)) }
    return store.state.withLock { state in
      if let count = state.leasesUntold[lease], count > 0 {
        state.leasesUntold[lease] = count - 1
        return .cannotBeToldNow
      }
      return state.leases[lease].map { .lasts($0) } ?? .isUnknown
    }
  }

  func watch(from revision: Int64, _ receive: @Sendable (WatchAnswer) async throws -> Void) async throws {
    let (stream, continuation) = AsyncThrowingStream<WatchAnswer, any Error>.makeStream()
    try store.state.withLock { state in
      state.asked.append(revision)
      if state.refusesWatches { throw MirrorFailure.away("no watch is admitted") }
      if revision <= state.compacted { throw MirrorFailure.compacted }
      for (number, events) in state.history where number >= revision {
        continuation.yield(
          WatchAnswer(position: state.position, events: events.filter { $0.key.starts(with: Self.prefix) }))
      }
      for answer in state.waiting { continuation.yield(answer) }
      state.waiting = []
      state.watches[number] = continuation
    }
    store.watchHasBegun()
    for try await answer in stream { try await receive(answer) }
    try Task.checkCancellation()
  }

  func commit(
    _ commit: UpstreamCommit, timeout: Duration
  ) async throws(UpstreamRefusal) -> UpstreamCommit.Outcome {
    let (before, refusal) = store.state.withLock { ($0.beforeCommit, $0.refusal) }
    before?(commit)
    if let refusal { throw refusal }
    let (outcome, isLost) = store.state.withLock { state in
      (state.isDown ? nil : state.make(commit, below: Self.prefix), state.losesAnswers)
    }
    if store.state.withLock(\.keepsAnswers) {
      try? await Task.sleep(for: .seconds(3600))
      // Cancelled, since its time was over: an answer now might still be in time for whoever cancelled it.
      throw .unsure("no answer came")
    }
    guard let outcome, !isLost else { throw .unsure("the connection broke") }
    return outcome
  }

  func requestProgress() async {
    store.state.withLock { state in
      if !state.isSilent { _ = state.watches[number]?.yield(WatchAnswer(position: state.position)) }
    }
  }
}

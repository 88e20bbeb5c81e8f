public import Dispatch
import SharedMemory
import Synchronization

extension Table {
  /// A source that calls a handler on a queue for each change of a key that begins with `prefix`: the changes of
  /// ``changes(after:prefix:durableOnly:)`` for programs that live on Dispatch.
  ///
  /// It begins with what is committed after this call, or after `version`; and it begins to call once it was activated.
  /// Keep it: with its last reference it ends, once it has told the changes, 256 at most, that it is about to tell. Never blocks.
  /// - Parameters:
  ///   - version: everything committed after it; nil = after this call.
  ///   - prefix: what the keys begin with; empty: all keys.
  ///   - durableOnly: a change is told once it is on the disk.
  ///   - queue: where the handlers run.
  public func makeChangeSource(
    after version: UInt64? = nil, prefix: some TableKey = "", durableOnly: Bool = false, queue: DispatchQueue
  ) -> TableChangeSource {
    let bytes = unsafe prefix.withKeyBytes { unsafe [UInt8]($0) }
    return TableChangeSource(ChangeFeed(self, after: version, .prefix(bytes), durableOnly: durableOnly), queue)
  }
}

/// Changes of a table, handed to a handler on a queue; used as a `DispatchSource`.
///
/// ```swift
/// let source = table.makeChangeSource(prefix: "user.", queue: queue)
/// source.setEventHandler { change in … }
/// source.activate()
/// ```
/// Handlers run one at a time, whatever the queue, each change in its turn. While it is suspended the changes wait in
/// the table's log, as long as that lasts. All methods may be called from any thread, and none blocks. In a child made by `fork()` the parent's
/// source has ended, and its methods do nothing; make a new one of a table that was opened again.
public final class TableChangeSource: Sendable {
  private enum Phase {
    /// Nothing under way: not activated, or suspended.
    case idle
    /// The handing out is on its way to the queue, or there.
    case running
    /// The watcher will say when.
    case waiting
    case ended
  }

  private struct State {
    var phase = Phase.idle
    var isActive = false
    var suspensions = 0
    var isCancelled = false
    var failure: TableError?
    var eventHandler: (@Sendable (TableChange) -> Void)?
    var cancelHandler: (@Sendable (TableError?) -> Void)?
    var watch: Watch?
    /// The source itself, from ``cancel()`` until it has ended: that is told also where nobody else holds it.
    var cancelled: TableChangeSource?

    var mayRun: Bool { isActive && suspensions == 0 || isCancelled }
  }

  private let queue: DispatchQueue
  private let forkGeneration = ForkGeneration()
  /// Not taken in a child made by fork(), where another thread of the parent may have held it: Swift's mutex ends the process then.
  private let state = Mutex(State())
  /// Used by the one run of ``drain()`` that there is at a time.
  private let feed: Mutex<ChangeFeed>

  init(_ feed: ChangeFeed, _ queue: DispatchQueue) {
    self.feed = Mutex(feed)
    self.queue = queue
  }

  /// What to call for each change. Before activation, or the first changes may be told to nobody.
  public func setEventHandler(_ handler: @escaping @Sendable (TableChange) -> Void) {
    replace(\.eventHandler, by: handler)
  }

  /// What to call once, on the queue, when the source has ended and calls no event handler any more: after
  /// ``cancel()`` with nil, or with the error that ended it (`unlinked`, `damaged`, `forked`, `invalid`,
  /// `notDurable`, `busy`, `system`).
  public func setCancelHandler(_ handler: @escaping @Sendable (TableError?) -> Void) {
    replace(\.cancelHandler, by: handler)
  }

  /// What the old one held is let go outside the lock: that may run anything.
  private func replace<Handler: Sendable>(
    _ place: WritableKeyPath<State, Handler?> & Sendable, by handler: Handler
  ) {
    guard forkGeneration.isOfThisProcess else { return }
    let old = state.withLock { state in
      let old = state[keyPath: place]
      if state.phase != .ended { state[keyPath: place] = handler }
      return old
    }
    _ = old
  }

  /// Begins to call the handler. Once; afterwards it has no effect.
  public func activate() {
    guard forkGeneration.isOfThisProcess else { return }
    state.withLock { $0.isActive = true }
    run()
  }

  /// Undoes one ``suspend()``; where there is none to undo, the same as ``activate()``.
  public func resume() {
    guard forkGeneration.isOfThisProcess else { return }
    state.withLock { state in
      if state.suspensions > 0 { state.suspensions -= 1 } else { state.isActive = true }
    }
    run()
  }

  /// Calls no handler any more, after the one that may be running, until ``resume()`` was called as often.
  public func suspend() {
    guard forkGeneration.isOfThisProcess else { return }
    state.withLock { $0.suspensions += 1 }
  }

  /// Ends it; the cancel handler is called on the queue, also while it is suspended. Changes not told yet are not told.
  public func cancel() {
    guard forkGeneration.isOfThisProcess else { return }
    let watch = state.withLock { state in
      state.isCancelled = true
      if state.phase != .ended { state.cancelled = self }
      return state.watch
    }
    run()
    watch?.end()
  }

  /// Whether it was cancelled, or has ended by itself.
  public var isCancelled: Bool { !forkGeneration.isOfThisProcess || state.withLock { $0.isCancelled } }

  // MARK: -

  private func run() { if begin(from: .idle) { enqueue() } }

  /// On the queue: the watcher says that the wait is over.
  private func proceed() { if begin(from: .waiting) { drain() } }

  private func begin(from phase: Phase) -> Bool {
    state.withLock { state in
      guard state.phase == phase else { return false }
      state.phase = state.mayRun ? .running : .idle
      return state.phase == .running
    }
  }

  /// The queue refers to the source weakly. A strong reference would keep a source that its program has let go for one turn after the
  /// other, as long as changes come.
  private func enqueue() { queue.async { [weak self] in self?.drain() } }

  /// So many changes at a time: a serial queue has others to serve.
  private static let changesAtOnce = 256

  /// On the queue: hands out what there is.
  private func drain() {
    for _ in 0..<Self.changesAtOnce {
      let handler = state.withLock { state -> (@Sendable (TableChange) -> Void)?? in
        if state.isCancelled { return nil }
        if !state.mayRun {
          state.phase = .idle
          return nil
        }
        return .some(state.eventHandler)
      }
      guard let handler else { return endIfCancelled() }
      switch Result(catching: { () throws(TableError) in try step() }) {
      case .success(.change(let change)):
        handler?(change)
      case .success(.again):
        break
      case .success(.wait(let goal)):
        do throws(TableError) { return try wait(for: goal) } catch { return fail(error) }
      case .failure(let error):
        return fail(error)
      }
    }
    enqueue()
  }

  private func step() throws(TableError) -> ChangeFeed.Step {
    try feed.withLock { feed throws(TableError) in try feed.step() }
  }

  private func wait(for goal: Watch.Goal) throws(TableError) {
    let watch: Watch
    if let known = state.withLock({ $0.watch }) {
      watch = known
    } else {
      watch = try Watch(feed.withLock { $0.table })
    }
    state.withLock { state in
      state.watch = watch
      state.phase = .waiting
    }
    // Weakly: who lets go of a source that waits has no more use for it. And only on the queue, or the watcher's thread might have the last
    // reference, and let go of what the handlers hold.
    let proceed: @Sendable () -> Void = { [weak self] in self?.proceed() }
    try watch.wait(for: goal) { [queue] in queue.async(execute: proceed) }
    // A cancellation that came before the wait found nothing to end.
    if isCancelled { watch.end() }
  }

  private func fail(_ error: TableError) {
    state.withLock { state in
      if !state.isCancelled { state.failure = error }
      state.isCancelled = true
    }
    endIfCancelled()
  }

  private func endIfCancelled() {
    let last = state.withLock { state -> State? in
      guard state.isCancelled, state.phase != .ended else { return nil }
      state.phase = .ended
      let last = state
      // As with Dispatch's own: what the handlers hold is let go.
      (state.eventHandler, state.cancelHandler, state.watch, state.cancelled) = (nil, nil, nil, nil)
      return last
    }
    if let last { last.cancelHandler?(last.failure) }
  }
}

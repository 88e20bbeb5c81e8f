import Dispatch
import SharedTable
import Synchronization

/// Follows the change log of one table: all processes' writes, not only those that came by this server.
final class ChangeRelay: Sendable {
  private let database: Database
  private let queue = DispatchQueue(label: "shmd.resp.changes")
  private let state = Mutex(State())
  /// Who caches is about to be told. Of the queue alone.
  private let isTelling = Atomic(false)

  private struct State {
    var source: TableChangeSource?
    /// It was to begin, and there was no table, or none that can be followed.
    var isWaiting = false
  }

  init(_ database: Database) { self.database = database }

  /// Begins with what is committed from now on. Nothing happens if it has begun. If there is no table, it is to be called again when
  /// there may be one: who caches is told then that changes were missed.
  func start(_ broker: Broker) {
    let hasMissed = state.withLock { state in
      guard state.source == nil else { return false }
      guard let table = try? database.table() else {
        state.isWaiting = true
        return false
      }
      let made = table.makeChangeSource(queue: queue)
      made.setEventHandler { [weak self, weak broker, database] change in
        guard let broker else { return }
        broker.tell(change, of: database)
        self?.tellTrackers(broker)
      }
      made.setCancelHandler { [weak self, weak broker, database] error in
        // Whatever was in a table that is gone, clients must not go on with.
        guard let self, let broker, let error else { return }
        // Any other error comes again as soon as it is tried: the clock asks again, once a second.
        let isGone = error.code == .unlinked
        self.state.withLock { $0 = State(isWaiting: !isGone) }
        broker.tell(.missed(1), of: database)
        database.refresh()
        guard isGone else { return }
        self.start(broker)
        // What a client has read of the new table before its changes are followed. Where there is none yet, it is told when there is.
        if !self.isWaiting { broker.tell(.missed(1), of: database) }
      }
      made.activate()
      defer { state = State(source: made) }
      return state.isWaiting
    }
    if hasMissed { broker.tell(.missed(1), of: database) }
  }

  /// It was to begin, and there was no table, or none that can be followed.
  var isWaiting: Bool { state.withLock { $0.isWaiting } }

  /// Once what the log has now is read: the source hands that out in one run of the queue.
  private func tellTrackers(_ broker: Broker) {
    guard !isTelling.exchange(true, ordering: .relaxed) else { return }
    queue.async { [weak self, weak broker] in
      self?.isTelling.store(false, ordering: .relaxed)
      broker?.tellTrackers()
    }
  }

  func stop() {
    let old = state.withLock { state in
      defer { state = State() }
      return state.source
    }
    old?.cancel()
  }
}

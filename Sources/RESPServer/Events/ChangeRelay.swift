import Dispatch
import SharedTable
import Synchronization

/// Follows the change log of one table: all processes' writes, not only those that came by this server.
final class ChangeRelay: Sendable {
  private let database: Database
  private let queue = DispatchQueue(label: "shmd.resp.changes")
  private let source = Mutex<TableSource?>(nil)
  /// Who caches is about to be told. Of the queue alone.
  private let isTelling = Atomic(false)

  init(_ database: Database) { self.database = database }

  /// Begins with what is committed from now on. Nothing happens if it has begun.
  func start(_ broker: Broker) {
    source.withLock { source in
      guard source == nil, let table = try? database.table() else { return }
      let made = table.makeChangeSource(queue: queue)
      made.setEventHandler { [weak self, weak broker, database] change in
        guard let broker else { return }
        broker.tell(change, of: database)
        self?.tellTrackers(broker)
      }
      made.setCancelHandler { [weak self, weak broker, database] error in
        // Whatever was in a table that is gone, clients must not go on with.
        guard let self, let broker, error != nil else { return }
        self.source.withLock { $0 = nil }
        broker.tell(.missed(1), of: database)
        database.refresh()
        if (try? database.table()) != nil { self.start(broker) }
      }
      made.activate()
      source = made
    }
  }

  /// Once what the log has now is read: the source hands that out in one run of the queue.
  private func tellTrackers(_ broker: Broker) {
    guard !isTelling.exchange(true, ordering: .relaxed) else { return }
    queue.async { [weak self, weak broker] in
      self?.isTelling.store(false, ordering: .relaxed)
      broker?.tellTrackers()
    }
  }

  func stop() {
    let old = source.withLock { source in
      defer { source = nil }
      return source
    }
    old?.cancel()
  }
}

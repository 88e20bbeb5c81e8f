import SharedMemory

/// The queues behind the asynchronous forms of accessors: one for each table of this process.
///
/// Kept by what is under way, and by the handles of it; a table that rests has none. Tables are told apart by their
/// segments, so that all handles of one share a queue, and with it an order.
enum AccessQueues {
  private struct Entry {
    weak var queue: BarrierQueue?
  }

  private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

  static func queue(_ table: Table) -> BarrierQueue {
    let key = ObjectIdentifier(table.segment)
    return ForkLock.hold {
      entries.withLock { entries in
        if let queue = entries[key]?.queue { return queue }
        // Whoever comes puts things in order: tables come and go.
        entries = entries.filter { $0.value.queue != nil }
        let queue = BarrierQueue(table, subject: nil)
        entries[key] = Entry(queue: queue)
        return queue
      }
    }
  }
}

extension Table {
  /// How many threads of this process run asynchronous accesses of the table, or are about to: for tests.
  package var accessThreads: Int { AccessQueues.queue(self).turns }
}

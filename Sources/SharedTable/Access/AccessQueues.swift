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
    // Dropped after the locks: the last reference to a queue may end its table's segment, which takes ForkLock itself.
    var living: [BarrierQueue] = []
    defer { withExtendedLifetime(living) {} }
    return ForkLock.hold {
      entries.withLock { entries in
        if let queue = entries[key]?.queue { return queue }
        // Each new queue clears the entries of those that ended.
        entries = entries.filter { entry in
          guard let queue = entry.value.queue else { return false }
          living.append(queue)
          return true
        }
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

import SharedMemory
public import Synchronization

/// The queues behind the asynchronous forms of accessors: one for each table of this process.
///
/// Kept by what is under way, and by the handles of it; a table that rests has none. Tables are told apart by their
/// segments, so that all handles of one share a queue, and with it an order. Synchronous accesses take their turn in it too, as
/// long as there is one: else they would overtake what their own thread has submitted.
@usableFromInline
enum AccessQueues {
  private struct Entry {
    weak var queue: BarrierQueue?
  }

  private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

  /// Whether there are entries: set under their lock, with the first and the last of them. A thread that has made one sees
  /// it set, and what other threads make at the same time has no order with it. So relaxed is enough.
  @usableFromInline static let areThereAny = Atomic(false)

  @inlinable
  static var areAnyInUse: Bool { areThereAny.load(ordering: .relaxed) }

  /// The queue of a table of which something is under way. One load where that is so of no table.
  static func queueInUse(_ table: Table) -> BarrierQueue? {
    guard areAnyInUse else { return nil }
    let key = ObjectIdentifier(table.segment)
    return ForkLock.hold {
      entries.withLock { entries in
        guard let entry = entries[key] else { return nil }
        if let queue = entry.queue { return queue }
        entries[key] = nil
        areThereAny.store(!entries.isEmpty, ordering: .relaxed)
        return nil
      }
    }
  }

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
        areThereAny.store(true, ordering: .relaxed)
        return queue
      }
    }
  }
}

extension Table {
  /// How many threads of this process run asynchronous accesses of the table, or are about to: for tests.
  package var accessThreads: Int { AccessQueues.queue(self).turns }
}

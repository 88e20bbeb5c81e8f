import SharedMemory
public import Synchronization

/// The queues behind the asynchronous forms of accessors: one for each table of this process.
///
/// Kept by what is under way, and by the handles of it; a table that rests has none. Tables are told apart by their
/// segments, so that all handles of one that take part share a queue, and with it an order. Synchronous accesses take their turn in it
/// too, as long as there is one: else they would overtake what their own thread has submitted. Handles that observe have another segment,
/// and a queue of their own; they look in the turn of the queue in which the others change the table, as long as there is one.
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
    return withEntries { entries in entries[ObjectIdentifier(table.segment)]?.queue }
  }

  /// Of an observed table: the queue in use in which this process changes it, by handles that take part. In a child made by fork() a queue
  /// of the parent is none.
  static func queueOfChangesInUse(_ table: Table) -> BarrierQueue? {
    guard areAnyInUse, table.isObserver else { return nil }
    return withEntries { entries in
      for entry in entries.values {
        if let queue = entry.queue, queue.table.isOfThisProcess, !queue.table.isObserver,
          queue.table.isSameTable(as: table)
        {
          return queue
        }
      }
      return nil
    }
  }

  static func queue(_ table: Table) -> BarrierQueue {
    withEntries { entries in
      let key = ObjectIdentifier(table.segment)
      if let queue = entries[key]?.queue { return queue }
      let queue = BarrierQueue(in: table, subject: nil)
      entries[key] = Entry(queue: queue)
      return queue
    }
  }

  /// Runs `body` with the entries of living queues: those of queues that ended are cleared first.
  private static func withEntries<R: Sendable>(_ body: (inout [ObjectIdentifier: Entry]) -> R) -> R {
    // Dropped after the locks: the last reference to a queue may end its table's segment, which takes ForkLock itself.
    var living: [BarrierQueue] = []
    defer { withExtendedLifetime(living) {} }
    return ForkLock.hold {
      entries.withLock { entries in
        entries = entries.filter { entry in
          guard let queue = entry.value.queue else { return false }
          living.append(queue)
          return true
        }
        let result = body(&entries)
        areThereAny.store(!entries.isEmpty, ordering: .relaxed)
        return result
      }
    }
  }
}

extension Table {
  /// How many threads of this process run asynchronous accesses of the table, or are about to: for tests.
  package var accessThreads: Int { AccessQueues.queue(self).turns }
}

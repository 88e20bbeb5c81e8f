import Dispatch
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

func withQueue(
  _ variant: Table.Variant, limit: Int = BarrierQueue.defaultLimit,
  errorHandler: (@Sendable (any Error) -> Void)? = nil, _ body: (BarrierQueue) throws -> Void
) throws {
  try withTable(variant) { table throws in
    let queue = try BarrierQueue(in: table, label: "org.example.test", limit: limit, errorHandler: errorHandler)
    try body(queue)
    waitUntil { queue.isIdle }
  }
}

func withQueue(
  _ variant: Table.Variant, limit: Int = BarrierQueue.defaultLimit,
  _ body: @Sendable (BarrierQueue) async throws -> Void
) async throws {
  try await withTable(variant) { table async throws in
    let queue = try BarrierQueue(in: table, label: "org.example.test", limit: limit)
    try await body(queue)
    await suspendUntil { queue.isIdle }
  }
}

/// Waits for what other threads are about to do; ten minutes at most, for a failure instead of a hang. A task of a test has its
/// turn among those of all tests, and each suspension puts it behind them: a minute was not enough.
func waitUntil(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
  let isMet = eventually(within: .seconds(600), condition)
  #expect(isMet, "it never came to pass", sourceLocation: sourceLocation)
}

/// ``waitUntil(_:sourceLocation:)`` for a task, which leaves its thread to others meanwhile.
func suspendUntil(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async {
  let isMet = await comesTrue(within: .seconds(600), condition)
  #expect(isMet, "it never came to pass", sourceLocation: sourceLocation)
}

/// A door that many wait at until somebody opens it; ten minutes at most. They sleep: if each looked again and again, those of all tests
/// would keep a sanitizer's few processors busy.
final class Door: Sendable {
  private let opened = Atomic(false)
  private let turn = DispatchSemaphore(value: 0)

  func open() {
    opened.store(true, ordering: .releasing)
    turn.signal()
  }

  func wait(sourceLocation: SourceLocation = #_sourceLocation) {
    let isMet = turn.wait(timeout: .now() + 600) == .success
    #expect(isMet, "nobody opened the door", sourceLocation: sourceLocation)
    // For the next who waits.
    turn.signal()
  }

  var isOpen: Bool { opened.load(ordering: .acquiring) }
}

/// What several threads noted, in order.
final class Notes<T: Sendable>: Sendable {
  private let notes = Locked<[T]>([])
  func add(_ note: T) { notes.withLock { $0.append(note) } }
  func clear() { notes.withLock { $0 = [] } }
  var all: [T] { notes.withLock { $0 } }
}

struct Refusal: Error, Equatable {}

/// A barrier of a table, or a change of a value, that a thread is in until it is told to leave.
struct Holder {
  private let thread: TestThread<Void>
  private let door = Door()

  /// Returns once the thread is in the barrier.
  init(_ table: Table) throws { self.init { body in try table.barrier { _ in body() } } }

  /// Returns once the thread is in the change.
  init(of value: SharedValue<Int>) { self.init { body in try value.mutate { _ in body() } } }

  private init(_ enter: @escaping @Sendable (() -> Void) throws -> Void) {
    let (inside, door) = (Door(), door)
    thread = TestThread {
      try enter {
        inside.open()
        door.wait()
      }
    }
    inside.wait()
  }

  func leave() { door.open() }

  /// After ``leave()``: waits for the barrier's end.
  func join() throws { try thread.join() }
}

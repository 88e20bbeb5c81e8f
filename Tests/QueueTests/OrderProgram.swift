import Dispatch
import Glibc
import SharedTable
import Synchronization
import TableTestSupport
import TestSupport
import Testing

/// A queue that programs of submissions run on. Closures are given how many barriers they see done; a barrier's own
/// is done when its closure has returned.
protocol TestedQueue: Sendable {
  func syncRead(_ body: @escaping @Sendable (Int) -> Void) throws
  func syncBarrier(_ body: @escaping @Sendable (Int) -> Void) throws
  func asyncRead(_ body: @escaping @Sendable (Int) -> Void) throws
  func asyncBarrier(_ body: @escaping @Sendable (Int) -> Void) throws
}

/// A random program: what several threads submit, one after the other each.
struct OrderProgram {
  struct Step: Sendable {
    let isBarrier: Bool
    let isSync: Bool
    /// How long its section dawdles.
    let work: Int
    /// Asynchronous steps that its section submits.
    let nested: [Step]
  }

  let threads: [[Step]]
  let seed: UInt64

  init(seed: UInt64, threads count: Int, steps: Int, barriersInTen: Int) {
    var random = SplitMix(seed: seed)
    func step(depth: Int) -> Step {
      let isSync = depth == 0 && Int.random(in: 0..<10, using: &random) < 4
      let isBarrier = Int.random(in: 0..<10, using: &random) < barriersInTen
      let work = Int.random(in: 0..<4, using: &random)
      let nests = depth == 0 && Int.random(in: 0..<12, using: &random) == 0
      return Step(
        isBarrier: isBarrier, isSync: isSync, work: work,
        nested: nests ? (0..<Int.random(in: 1...2, using: &random)).map { _ in step(depth: 1) } : [])
    }
    threads = (0..<count).map { _ in (0..<steps).map { _ in step(depth: 0) } }
    self.seed = seed
  }

  /// Runs it and waits until all of it is done.
  func run(on queue: any TestedQueue) throws -> OrderHistory {
    let recorder = Recorder()
    let running = threads.map { steps in
      TestThread { for step in steps { try recorder.submit(step, to: queue) } }
    }
    for thread in running { try thread.join() }
    waitUntil { recorder.isComplete }
    return OrderHistory(items: recorder.items)
  }
}

/// Runs programs and notes when what happened.
private final class Recorder: Sendable {
  private struct Note: Sendable {
    var item: OrderHistory.Item
    var isDone: Bool { item.returned > 0 && item.end > 0 }
  }

  private let notes = Locked<[Note]>([])
  private let clock = Atomic(0)

  private func tick() -> Int { clock.add(1, ordering: .sequentiallyConsistent).newValue }

  var isComplete: Bool { notes.withLock { $0.allSatisfy(\.isDone) } }
  var items: [OrderHistory.Item] { notes.withLock { $0.map(\.item) } }

  func submit(_ step: OrderProgram.Step, to queue: any TestedQueue) throws {
    let number = notes.withLock { notes in
      notes.append(
        Note(
          item: .init(
            isBarrier: step.isBarrier, isSync: step.isSync, called: 0, returned: 0, begin: 0, end: 0, seen: -1,
            ranOnCaller: false)))
      return notes.count - 1
    }
    let caller = pthread_self()
    let run: @Sendable (Int) -> Void = { [self] seen in
      let begin = tick()
      for _ in 0..<step.work { sched_yield() }
      for nested in step.nested {
        do { try submit(nested, to: queue) } catch { Issue.record("a nested submission failed: \(error)") }
      }
      let end = tick()
      let isCaller = pthread_equal(caller, pthread_self()) != 0
      notes.withLock { notes in
        notes[number].item.begin = begin
        notes[number].item.seen = seen
        notes[number].item.ranOnCaller = isCaller
        notes[number].item.end = end
      }
    }
    let called = tick()
    notes.withLock { $0[number].item.called = called }
    switch (step.isSync, step.isBarrier) {
    case (true, true): try queue.syncBarrier(run)
    case (true, false): try queue.syncRead(run)
    case (false, true): try queue.asyncBarrier(run)
    case (false, false): try queue.asyncRead(run)
    }
    let returned = tick()
    notes.withLock { $0[number].item.returned = returned }
  }
}

/// libdispatch's own.
final class DispatchUnderTest: TestedQueue {
  private let queue = DispatchQueue(label: "org.example.dispatch", attributes: .concurrent)
  private let barriers = Atomic(0)

  private var seen: Int { barriers.load(ordering: .sequentiallyConsistent) }
  private func alone(_ body: (Int) -> Void) {
    body(seen)
    barriers.add(1, ordering: .sequentiallyConsistent)
  }

  func syncRead(_ body: @escaping @Sendable (Int) -> Void) { queue.sync { body(seen) } }
  func syncBarrier(_ body: @escaping @Sendable (Int) -> Void) { queue.sync(flags: .barrier) { alone(body) } }
  func asyncRead(_ body: @escaping @Sendable (Int) -> Void) { queue.async { [self] in body(seen) } }
  func asyncBarrier(_ body: @escaping @Sendable (Int) -> Void) {
    queue.async(flags: .barrier) { [self] in alone(body) }
  }
}

/// Ours. What it sees done is what is in the table.
final class BarrierQueueUnderTest: TestedQueue {
  private let queue: BarrierQueue

  init(_ queue: BarrierQueue) { self.queue = queue }

  func syncRead(_ body: @escaping @Sendable (Int) -> Void) throws {
    try queue.sync { (view: borrowing ReadView) in body(try view.get("barriers") ?? 0) }
  }
  func syncBarrier(_ body: @escaping @Sendable (Int) -> Void) throws {
    try queue.sync(flags: .barrier) { tx in body(try tx.increment("barriers") - 1) }
  }
  func asyncRead(_ body: @escaping @Sendable (Int) -> Void) throws {
    try queue.async { (view: borrowing ReadView) in body(try view.get("barriers") ?? 0) }
  }
  func asyncBarrier(_ body: @escaping @Sendable (Int) -> Void) throws {
    try queue.async(flags: .barrier) { tx in body(try tx.increment("barriers") - 1) }
  }
}

/// A queue with a mistake, to see the model find it.
final class WrongQueue: TestedQueue {
  enum Mistake: CaseIterable {
    /// As on a global queue: the flag is silently ignored.
    case barrierIsARead
    /// A barrier does not wait for asynchronous reads submitted before it.
    case barrierOvertakes
    /// Asynchronous work is begun last come, first served.
    case lastFirst
    /// A synchronous read does not wait for asynchronous barriers.
    case readOvertakes
    /// A synchronous section runs on another thread.
    case elsewhere
  }

  private let mistake: Mistake
  private let queue: DispatchQueue
  private let side = DispatchQueue(label: "org.example.side")
  private let stack = Locked<[@Sendable () -> Void]>([])
  private let barriers = Atomic(0)

  init(_ mistake: Mistake) {
    self.mistake = mistake
    queue = DispatchQueue(label: "org.example.wrong", attributes: .concurrent)
  }

  private var seen: Int { barriers.load(ordering: .sequentiallyConsistent) }
  private func alone(_ body: (Int) -> Void) {
    body(seen)
    barriers.add(1, ordering: .sequentiallyConsistent)
  }

  func syncRead(_ body: @escaping @Sendable (Int) -> Void) {
    switch mistake {
    case .readOvertakes: body(seen)
    case .elsewhere: queue.sync { try? TestThread { [self] in body(seen) }.join() }
    default: queue.sync { body(seen) }
    }
  }

  func syncBarrier(_ body: @escaping @Sendable (Int) -> Void) {
    if mistake == .barrierIsARead { queue.sync { alone(body) } } else { queue.sync(flags: .barrier) { alone(body) } }
  }

  func asyncRead(_ body: @escaping @Sendable (Int) -> Void) {
    if mistake == .barrierOvertakes {
      side.async { [self] in body(seen) }
    } else {
      queue.async { [self] in body(seen) }
    }
  }

  func asyncBarrier(_ body: @escaping @Sendable (Int) -> Void) {
    switch mistake {
    case .barrierIsARead: queue.async { [self] in alone(body) }
    case .lastFirst:
      stack.withLock { $0.append { [self] in alone(body) } }
      queue.async(flags: .barrier) { [self] in stack.withLock { $0.removeLast() }() }
    default: queue.async(flags: .barrier) { [self] in alone(body) }
    }
  }
}

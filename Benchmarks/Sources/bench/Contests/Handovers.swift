import Dispatch
import SharedTable
import Synchronization

// Work that is handed to another thread or task, beside what Swift and GCD have for it within one process.

/// A call of an actor that sets a value, awaited before the next.
func actorCallContest() throws -> Contest {
  let workload = Workload(keyCount: 1000)
  let ours = try OurTable(workload)
  let (local, queued, host) = (LocalActor(), QueueActor(), try SharedActor(ours.table))
  let queue = try BarrierQueue(in: ours.table, label: "org.example.bench")
  return Contest(
    name: "actor-call", work: "a call of an actor that sets a number, awaited by one task before the next",
    reference: "actor",
    contestants: [
      Contestant("actor") { _ in
        try inTask(20_000) { numbers in for number in numbers { await local.set(number) } }
      },
      Contestant("actor on a Dispatch queue") { _ in
        try inTask(2000) { numbers in for number in numbers { try await queued.set(number) } }
      },
      Contestant("set") { try ours.set($0, count: 5000, batch: 1) },
      Contestant("await queue.barrier") { _ in
        try inTask(20_000) { numbers in
          for number in numbers { try await queue.barrier { tx in try tx.set("number", number) } }
        }
      },
      Contestant("get") { _ in
        for _ in 0..<5000 {
          guard try ours.table.get("number", as: Int.self) != nil else { throw Failure("get: missing") }
        }
        return 5000
      },
      Contestant("await queue.read") { _ in
        try inTask(20_000) { numbers in
          for _ in numbers { _ = try await queue.read { view in try view.get("number", as: Int.self) } }
        }
      },
      Contestant("HostActor") { _ in
        try inTask(2000) { numbers in for number in numbers { try await host.set(number) } }
      },
      Contestant("HostActor.hostRun") { _ in
        try inTask(20_000) { numbers in
          for number in numbers { try await host.hostRun { host in try host.set(number) } }
        }
      },
    ])
}

private actor LocalActor {
  private var number = 0
  func set(_ number: Int) { self.number = number }
}

/// What Swift's runtime takes for any actor with an executor of its own.
private actor QueueActor {
  private nonisolated let executor = QueueExecutor()
  private var number = 0
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  // Throws as the host actor's does: after a call that cannot, the compiler lets the task stay where it is, as nothing follows.
  @inline(never) func set(_ number: Int) throws { self.number = number }
}

private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "bench.executor")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

private actor SharedActor: HostActor {
  nonisolated let hostExecutor: HostExecutor
  private let number: HostState<Int>

  init(_ table: Table) throws {
    hostExecutor = HostExecutor(in: table)
    number = try HostState("number", in: hostExecutor, default: 0)
  }

  func set(_ value: Int) throws { try number.set(value) }
}

/// Asynchronous barriers, submitted one after the other and then waited for.
func barrierBurstContest() throws -> Contest {
  let workload = Workload(keyCount: 10_000)
  let ours = try OurTable(workload)
  let dictionary = GuardedDictionary(workload)
  let queue = try BarrierQueue(in: ours.table, label: "org.example.bench")
  let peer = DispatchQueue(label: "bench.burst", attributes: .concurrent)
  let count = 4000
  /// Calls `submit` with the keys of a round.
  func submit(_ number: Int, _ submit: (Key) throws -> Void) rethrows {
    let keys = workload.round(number, count).keys
    for index in 0..<count { try submit(Key(at: keys + index * Workload.keyBytes)) }
  }
  return Contest(
    name: "barrier-burst",
    work: "an asynchronous barrier that overwrites one value of 100 bytes, 4,000 submitted together",
    reference: "GCD barrier queue, a dictionary",
    contestants: [
      Contestant("GCD barrier queue, a dictionary") { number in
        submit(number) { key in peer.async(flags: .barrier) { dictionary.overwrite(key) } }
        peer.sync(flags: .barrier) {}
        return count
      },
      Contestant("BarrierQueue") { number in
        var last: WorkItem<Void>?
        try submit(number) { key in
          last = try queue.async(flags: .barrier) { tx in try tx.set(key, workload.value) }
        }
        try withExtendedLifetime(ours) { try last?.wait() }
        return count
      },
    ])
}

/// From a value's change until a task that waits for it has seen it.
func updatesContest() throws -> Contest {
  let ours = try OurTable(Workload(keyCount: 1000))
  let number = try SharedValue<Int>("number", in: ours.table, default: 0)
  let (stream, source) = AsyncStream.makeStream(of: Int.self)
  let trips = 200
  let (isSeen, isSeenInTable) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  Task.detached { for await _ in stream { isSeen.signal() } }
  let updates = number.updates
  Task.detached { for try await _ in updates { isSeenInTable.signal() } }
  // It begins with what there is.
  isSeenInTable.wait()
  return Contest(
    name: "updates", work: "a number is changed, and the task that waits for it has seen it", reference: "AsyncStream",
    contestants: [
      Contestant("AsyncStream") { _ in
        for trip in 0..<trips {
          source.yield(trip)
          isSeen.wait()
        }
        return trips
      },
      Contestant("value.updates") { _ in
        try withExtendedLifetime(ours) {
          for trip in 0..<trips {
            try number.set(trip)
            isSeenInTable.wait()
          }
        }
        return trips
      },
    ])
}

/// Runs `body` in a task, while this thread sleeps. It makes so many calls, in a loop of its own: through a closure for each they would
/// take up to half as long again.
private func inTask(_ times: Int, _ body: @escaping @Sendable (Range<Int>) async throws -> Void) throws -> Int {
  let run = Run()
  Task.detached {
    do { try await body(0..<times) } catch { run.failure.withLock { $0 = error } }
    run.done.signal()
  }
  run.done.wait()
  if let failure = run.failure.withLock({ $0 }) { throw failure }
  return times
}

private final class Run: Sendable {
  let done = DispatchSemaphore(value: 0)
  let failure = Mutex<(any Error)?>(nil)
}

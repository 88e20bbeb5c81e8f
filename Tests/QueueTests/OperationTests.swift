import Foundation
import SharedTable
import SharedTableOperations
import Synchronization
import TestSupport
import Testing

/// Sections as operations: state, dependencies, cancellation.
@Suite struct OperationTests {
  private func isSuccess<R: Equatable>(_ result: Result<R, any Error>?, _ value: R) -> Bool {
    if case .success(value)? = result { return true }
    return false
  }

  private func isFailure<R>(_ result: Result<R, any Error>?, _ type: (some Error).Type) -> Bool {
    if case .failure(let error)? = result { return Swift.type(of: error) == type }
    return false
  }

  @Test(arguments: Table.Variant.allCases) func dependenciesOrderSections(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let operations = OperationQueue()
      // Added last first: only the dependencies say in what order.
      var chain: [BarrierOperation<Int>] = []
      for index in 0..<20 {
        let operation = BarrierOperation(on: queue) { tx in
          let n = try tx.get("n", as: Int.self) ?? 0
          try tx.set("n", n * 2 % 1_000_003 + index)
          return index
        }
        if let last = chain.last { operation.addDependency(last) }
        chain.append(operation)
      }
      let read = ReadOperation(on: queue) { view in try view.get("n", as: Int.self) }
      read.addDependency(chain.last!)
      operations.addOperation(read)
      for operation in chain.reversed() { operations.addOperation(operation) }
      operations.waitUntilAllOperationsAreFinished()
      let expected = (0..<20).reduce(0) { $0 * 2 % 1_000_003 + $1 }
      #expect(isSuccess(read.result, expected))
      #expect(chain.enumerated().allSatisfy { isSuccess($1.result, $0) && $1.isFinished && !$1.isExecuting })
    }
  }

  @Test func anErrorFinishesItAndItsDependentsRun() throws {
    try withQueue(.rcu) { queue throws in
      let operations = OperationQueue()
      let failing = BarrierOperation<Void>(on: queue) { tx in
        try tx.set("n", 1)
        throw Refusal()
      }
      let completed = Door()
      failing.completionBlock = { completed.open() }
      let after = ReadOperation(on: queue) { view in try view.contains("n") }
      after.addDependency(failing)
      operations.addOperations([after, failing], waitUntilFinished: true)
      #expect(isFailure(failing.result, Refusal.self))
      #expect(isSuccess(after.result, false))
      completed.wait()
    }
  }

  @Test(arguments: Table.Variant.allCases) func aCancelledOneNeverEntersItsSection(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let operations = OperationQueue()
      let (inside, leave) = (Door(), Door())
      let running = BarrierOperation(on: queue) { tx in
        inside.open()
        leave.wait()
        return try tx.increment("n")
      }
      // One is in the queue when it is cancelled, one waits for its dependency, one was not even added.
      let submitted = BarrierOperation(on: queue) { tx in try tx.increment("n", by: 100) }
      let dependent = BarrierOperation(on: queue) { tx in try tx.increment("n", by: 100) }
      dependent.addDependency(running)
      let early = ReadOperation(on: queue) { _ in Issue.record("it must not run") }
      operations.addOperation(running)
      inside.wait()
      operations.addOperations([submitted, dependent], waitUntilFinished: false)
      waitUntil { submitted.isExecuting && queue.waitingCount == 1 }
      early.cancel()
      operations.addOperation(early)
      submitted.cancel()
      submitted.waitUntilFinished()
      dependent.cancel()
      running.cancel()
      #expect(running.isExecuting && !running.isFinished)
      leave.open()
      operations.waitUntilAllOperationsAreFinished()
      #expect(isSuccess(running.result, 1), "what has begun runs to its end")
      for operation in [submitted, dependent] { #expect(isFailure(operation.result, CancellationError.self)) }
      #expect(isFailure(early.result, CancellationError.self))
      #expect(try queue.table.get("n") == 1)
    }
  }

  @Test func oneThatWaitsOccupiesNoThreadOfItsOperationQueue() throws {
    try withQueue(.rcu) { queue throws in
      let operations = OperationQueue()
      operations.maxConcurrentOperationCount = 100
      let (inside, leave) = (Door(), Door())
      try queue.async(flags: .barrier) { _ in
        inside.open()
        leave.wait()
      }
      inside.wait()
      let waiting = (0..<100).map { _ in BarrierOperation(on: queue) { tx in try tx.increment("n") } }
      operations.addOperations(waiting, waitUntilFinished: false)
      waitUntil { queue.waitingCount == 100 }
      #expect(waiting.allSatisfy { $0.isExecuting && !$0.isFinished && $0.isAsynchronous })
      leave.open()
      operations.waitUntilAllOperationsAreFinished()
      #expect(try queue.table.get("n") == 100)
    }
  }

  @Test func startedByHandItRunsOnce() throws {
    try withQueue(.rcu) { queue throws in
      let operation = BarrierOperation(on: queue) { tx in try tx.increment("n") }
      #expect(operation.isReady && !operation.isExecuting && operation.result == nil)
      operation.start()
      operation.waitUntilFinished()
      operation.start()
      #expect(isSuccess(operation.result, 1))
      #expect(operation.isFinished)
      #expect(try queue.sync(flags: .barrier) { tx throws in try tx.increment("n") } == 2)
    }
  }

  @Test(arguments: Table.Variant.allCases) func waitingForItInASectionEndsWithAnError(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      func expectDeadlock<R>(_ operation: SectionOperation<R>) {
        if case .failure(let error as TableError)? = operation.result {
          #expect(error.code == .wouldDeadlock)
        } else {
          Issue.record("\(String(describing: operation.result))")
        }
      }
      let started = BarrierOperation(on: queue) { _ in Issue.record("it must not run") }
      let unstarted = ReadOperation(on: queue) { _ in Issue.record("it must not run") }
      try queue.sync(flags: .barrier) { _ in
        started.start()
        started.waitUntilFinished()
        expectDeadlock(started)
        unstarted.waitUntilFinished()
      }
      unstarted.start()
      expectDeadlock(unstarted)
      // What is finished is waited for anywhere.
      try queue.sync { _ in started.waitUntilFinished() }
    }
  }

  /// An operation that waits for itself, or for one whose barrier its own shares, goes on.
  @Test(arguments: Table.Variant.allCases) func whatHasBegunInTheSameSectionIsNotWaitedFor(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let itself = Mutex<BarrierOperation<Int>?>(nil)
      let before = BarrierOperation(on: queue) { tx in try tx.increment("n") }
      let operation = BarrierOperation(on: queue) { tx in
        itself.withLock { $0 }?.waitUntilFinished()
        before.waitUntilFinished()
        return try tx.increment("n")
      }
      itself.withLock { $0 = operation }
      // Both wait, and then share a barrier.
      try queue.sync { _ in
        before.start()
        operation.start()
      }
      operation.waitUntilFinished()
      before.waitUntilFinished()
      #expect(isSuccess(before.result, 1))
      #expect(isSuccess(operation.result, 2))
      #expect(!operation.isCancelled)
      itself.withLock { $0 = nil }
    }
  }

  /// Two wait for a reader, the second of them without a thread. Then a section on the thread that ran it waits for it.
  @Test func aCommittedBarrierIsAwaitedAlsoOnTheThreadThatRanIt() throws {
    try withQueue(.rcu) { queue throws in
      let (inside, leave) = (Door(), Door())
      let reader = TestThread {
        try queue.table.read { _ in
          inside.open()
          leave.wait()
        }
      }
      inside.wait()
      let first = BarrierOperation<Void>(on: queue, flags: .barrierWaitingForReaders) { _ in }
      let thread = Mutex<pthread_t?>(nil)
      let second = BarrierOperation<Void>(on: queue, flags: .barrierWaitingForReaders) { _ in
        thread.withLock { $0 = pthread_self() }
      }
      first.start()
      second.start()
      let isReturned = Atomic(false)
      let waiter = Atomic<Int32>(0)
      let isOnThread = Mutex<Bool?>(false)
      for _ in 0..<10_000 where isOnThread.withLock({ $0 }) == false {
        isOnThread.withLock { $0 = nil }
        try queue.async { _ in
          let isHere = thread.withLock { $0 } == pthread_self()
          isOnThread.withLock { $0 = isHere }
          guard isHere else { return }
          waiter.store(TestThread<Void>.currentNumber, ordering: .releasing)
          second.waitUntilFinished()
          #expect(second.isFinished)
          isReturned.store(true, ordering: .releasing)
        }
        waitUntil { isOnThread.withLock { $0 } != nil }
      }
      #expect(isOnThread.withLock { $0 } == true)
      waitUntil {
        let number = waiter.load(ordering: .acquiring)
        return number != 0 && TestThread<Void>.isAsleep(number) || isReturned.load(ordering: .acquiring)
      }
      #expect(isReturned.load(ordering: .acquiring) == false, "it waits for the readers too")
      leave.open()
      try reader.join()
      first.waitUntilFinished()
      second.waitUntilFinished()
      try queue.flush()
      #expect(isReturned.load(ordering: .acquiring) == true)
    }
  }

  @Test func whatItsClosureThrowsIsItsResultWhoeverWaitedInASection() throws {
    try withQueue(.rcu) { queue throws in
      let (inside, leave) = (Door(), Door())
      let operation = BarrierOperation<Void>(on: queue) { _ in
        inside.open()
        leave.wait()
        throw CancellationError()
      }
      operation.start()
      inside.wait()
      // A reader of the rcu variant keeps no barrier from its end.
      let waiter = TestThread { try queue.table.read { _ in operation.waitUntilFinished() } }
      waiter.waitUntilAsleep()
      leave.open()
      try waiter.join()
      #expect(isFailure(operation.result, CancellationError.self))
    }
  }

  /// It has begun, and runs to its end. A reader of the rcu variant keeps no barrier from its end.
  @Test func oneThatHasBegunIsNotCancelledByWhoWaitsInASection() throws {
    try withQueue(.rcu) { queue throws in
      func expectWait(for operation: SectionOperation<Void>, _ inside: Door, _ leave: Door) throws {
        operation.start()
        inside.wait()
        let waiter = TestThread { try queue.table.read { _ in operation.waitUntilFinished() } }
        waiter.waitUntilAsleep()
        leave.open()
        try waiter.join()
        #expect(!operation.isCancelled && operation.isFinished)
        #expect(throws: Never.self) { try operation.result?.get() }
      }
      let (insideRead, leaveRead, insideBarrier, leaveBarrier) = (Door(), Door(), Door(), Door())
      let read = ReadOperation(on: queue) { _ in
        insideRead.open()
        leaveRead.wait()
      }
      try expectWait(for: read, insideRead, leaveRead)
      let barrier = BarrierOperation(on: queue) { _ in
        insideBarrier.open()
        leaveBarrier.wait()
      }
      try expectWait(for: barrier, insideBarrier, leaveBarrier)
    }
  }

  @Test func startingItASecondTimeDoesNothing() throws {
    try withQueue(.rcu) { queue throws in
      let (inside, leave) = (Door(), Door())
      let operation = BarrierOperation(on: queue) { _ in
        inside.open()
        leave.wait()
        return 1
      }
      operation.start()
      inside.wait()
      operation.cancel()
      operation.start()
      #expect(!operation.isFinished)
      #expect(operation.result == nil)
      leave.open()
      operation.waitUntilFinished()
      #expect(isSuccess(operation.result, 1))
    }
  }

  @Test func aFullQueueFailsIt() throws {
    try withQueue(.rcu, limit: 1) { queue throws in
      let (inside, leave) = (Door(), Door())
      try queue.async(flags: .barrier) { _ in
        inside.open()
        leave.wait()
      }
      inside.wait()
      let waiting = try queue.async { _ in }
      let operation = ReadOperation(on: queue) { _ in Issue.record("it must not run") }
      operation.start()
      #expect(operation.isFinished)
      if case .failure(let error as TableError)? = operation.result {
        #expect(error.code == .queueFull)
      } else {
        Issue.record("\(String(describing: operation.result))")
      }
      leave.open()
      try waiting.wait()
    }
  }
}

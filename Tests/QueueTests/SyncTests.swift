import Dispatch
import Glibc
import SharedTable
import TableTestSupport
import TestSupport
import Testing

/// Sections on the calling thread: results, errors, timeouts, nesting.
@Suite struct SyncTests {
  @Test(arguments: Table.Variant.allCases) func sectionsReturnWhatTheirClosuresReturn(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      #expect(try queue.sync(flags: .barrier) { tx in try tx.increment("n") } == 1)
      #expect(try queue.sync { view in try view.get("n") } == 1)
      #expect(try queue.sync { view in try view.get("absent", as: String.self) } == nil)
    }
  }

  @Test(arguments: Table.Variant.allCases) func aBarrierThatThrowsChangesNothingAndTheQueueGoesOn(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      #expect(throws: Refusal.self) {
        try queue.sync(flags: .barrier) { tx in
          try tx.set("n", 1)
          throw Refusal()
        }
      }
      #expect(throws: Refusal.self) { try queue.sync { _ in throw Refusal() } }
      #expect(try queue.sync { view in try view.get("n", as: Int.self) } == nil)
      #expect(try queue.sync(flags: .barrier) { tx in try tx.increment("n") } == 1)
    }
  }

  @Test func onlyReverseDNSNamesLabelAQueue() throws {
    try withTable(.rcu) { table throws in
      for label in ["org.example", "org.example.settings-2.x_y", "a.b"] {
        #expect(try BarrierQueue(in: table, label: label).label == label)
      }
      for label in [
        "", "settings", ".a.b", "a..b", "a.b.", "org.exämple", "a b.c", "a.b\n",
        String(repeating: "a.", count: 150) + "b",
      ] {
        #expect(error { _ = try BarrierQueue(in: table, label: label) }?.code == .invalid, "\(label)")
      }
      #expect(error { _ = try BarrierQueue(in: table, label: "a.b", limit: 0) }?.code == .invalid)
    }
  }

  // MARK: - G11

  @Test(arguments: Table.Variant.allCases) func whatWouldWaitForItsOwnThreadFailsAtOnce(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      // Another handle and another queue of the same table: the thread's sections are known all the same.
      let handle = try Table.open(queue.table.name, access: .participant)
      let others = [queue, try BarrierQueue(in: handle, label: "org.example.other")]
      for other in others {
        let inRead = try queue.sync { _ in error { try other.sync(flags: .barrier) { _ in } } }
        let readInBarrier = try queue.sync(flags: .barrier) { _ in error { try other.sync { _ in } } }
        let barrierInBarrier = try queue.sync(flags: .barrier) { _ in error { try other.sync(flags: .barrier) { _ in } }
        }
        let plain = try handle.read { _ in error { try other.sync(flags: .barrier) { _ in } } }
        for refusal in [inRead, readInBarrier, barrierInBarrier, plain] {
          #expect(refusal?.code == .wouldDeadlock)
          #expect(refusal?.description.contains("'\(other.label)'") == true)
        }
      }
    }
  }

  @Test(arguments: Table.Variant.allCases) func syncFromTheQueuesOwnAsynchronousClosureFailsAtOnce(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let fromRead = try queue.async { _ in error { try queue.sync(flags: .barrier) { _ in } }?.code }
      let fromBarrier = try queue.async(flags: .barrier) { _ in
        [error { try queue.sync(flags: .barrier) { _ in } }?.code, error { try queue.sync { _ in } }?.code]
      }
      #expect(try fromRead.wait() == .wouldDeadlock)
      #expect(try fromBarrier.wait() == [.wouldDeadlock, .wouldDeadlock])
    }
  }

  @Test(arguments: Table.Variant.allCases) func aReadInAReadJoinsAndDoesNotWaitForAPendingBarrier(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      try queue.table.set("n", 1)
      let item = try queue.sync { view throws in
        let item = try queue.async(flags: .barrier) { tx in try tx.set("n", 2) }
        let version = view.version
        try queue.sync { inner throws in
          #expect(inner.version == version)
          #expect(try inner.get("n") == 1)
        }
        #expect(!item.isFinished)
        return item
      }
      try item.wait()
      #expect(try queue.sync { view in try view.get("n") } == 2)
    }
  }

  // MARK: - Timeouts

  @Test(arguments: Table.Variant.allCases) func aReadThatTimesOutLetsTheNextGo(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let (inside, leave) = (Door(), Door())
      let barrier = TestThread {
        try queue.sync(flags: .barrier) { _ in
          inside.open()
          leave.wait()
        }
      }
      inside.wait()
      let late = error {
        try queue.sync(timeout: .milliseconds(20)) { _ in
          Issue.record("it must not run"); return
        }
      }
      #expect(late?.code == .timedOut)
      #expect(late?.holder?.pid == getpid())
      #expect(late?.description.contains("'org.example.test'") == true)
      let after = TestThread { try queue.sync { _ in } }
      leave.open()
      try barrier.join()
      try after.join()
    }
  }

  @Test(arguments: Table.Variant.allCases) func aBarrierThatTimesOutNoLongerKeepsReadsOut(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let (inside, leave) = (Door(), Door())
      let reader = TestThread {
        try queue.sync { _ in
          inside.open()
          leave.wait()
        }
      }
      inside.wait()
      let barrier = Notes<TableError?>()
      let waiting = TestThread {
        barrier.add(
          error {
            try queue.sync(flags: .barrier, timeout: .milliseconds(300)) { _ in
              Issue.record("ran"); return
            }
          })
      }
      waitUntil { !queue.isIdle && (barrier.all.count > 0 || queue.isClosed) }
      // It comes after the barrier, and begins when that gives up: the first reader is still inside.
      try queue.sync(timeout: .seconds(600)) { _ in #expect(!leave.isOpen) }
      try waiting.join()
      #expect(barrier.all.first??.code == .timedOut)
      #expect(barrier.all.first??.holder?.pid == getpid(), "the reader of this process is named")
      leave.open()
      try reader.join()
    }
  }

  @Test(arguments: Table.Variant.allCases) func aWaiterInTheMiddleLeavesTheOthersInOrder(
    _ variant: Table.Variant
  ) throws {
    try withQueue(variant) { queue throws in
      let (inside, leave) = (Door(), Door())
      let notes = Notes<Int>()
      let holder = TestThread {
        try queue.sync(flags: .barrier) { _ in
          inside.open()
          leave.wait()
        }
      }
      inside.wait()
      var items: [WorkItem<Void>] = []
      for index in 0..<6 {
        items.append(try queue.async(flags: .barrier) { _ in notes.add(index) })
        #expect(error { try queue.sync(flags: .barrier, timeout: .milliseconds(2)) { _ in } }?.code == .timedOut)
        #expect(error { try queue.sync(timeout: .milliseconds(2)) { _ in } }?.code == .timedOut)
      }
      for index in [5, 0, 3] { #expect(items[index].cancel()) }
      leave.open()
      try holder.join()
      try queue.sync { _ in #expect(notes.all == [1, 2, 4]) }
    }
  }

  @Test(arguments: Table.Variant.allCases) func aTimeoutCoversTheWaitForTheTableToo(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue throws in
      let other = try worker(queue.table)
      try other.ask("barrier", expecting: "in")
      let late = error { try queue.sync(flags: .barrier, timeout: .milliseconds(30)) { _ in } }
      #expect(late?.code == .timedOut)
      #expect(late?.holder?.pid == other.pid)
      #expect(late?.description.contains("'org.example.test'") == true)
      if variant == .rwlock {
        #expect(error { try queue.sync(timeout: .milliseconds(30)) { _ in } }?.holder?.pid == other.pid)
      } else {
        try queue.sync { _ in }  // G5
      }
      // Whose barrier a queue runs is told the queue's label too.
      try other.ask("commit", expecting: "ok")
      try other.ask("queue-barrier", expecting: "in")
      let behindQueue = error { try queue.table.set("k", 1, timeout: .milliseconds(30)) }
      #expect(behindQueue?.holder?.label == "org.example.worker")
      #expect(behindQueue?.description.contains("in a barrier of queue 'org.example.worker'") == true)
      try other.ask("commit", expecting: "ok")
      try other.ask("barrier", expecting: "in")
      // Who waits in the queue behind a barrier that waits for the table is told who has the table.
      let first = try queue.async(flags: .barrier, timeout: .seconds(600)) { _ in }
      let behind = error { try queue.sync(timeout: .milliseconds(30)) { _ in } }
      #expect(behind?.holder?.pid == other.pid)
      try other.ask("commit", expecting: "ok")
      try first.wait()
    }
  }

  @Test func anObserversQueueReadsAndDoesNotWrite() throws {
    try withTable(.rcu) { table throws in
      try table.set("k", "v")
      let queue = try BarrierQueue(in: Table.open(table.name, access: .observer), label: "org.example.observer")
      #expect(try queue.sync { view in try view.get("k") } == "v")
      #expect(error { try queue.sync(flags: .barrier) { tx in try tx.set("k", "w") } }?.code == .notPermitted)
      #expect(try queue.async { view in try view.get("k", as: String.self) }.wait() == "v")
      let item = try queue.async(flags: .barrier) { tx in try tx.set("k", "w") }
      #expect(error { try item.wait() }?.code == .notPermitted)
      #expect(queue.isIdle)
    }
  }

  @Test(arguments: Table.Variant.allCases) func noFlagsAreARead(_ variant: Table.Variant) throws {
    try withQueue(variant) { queue in
      try queue.sync(flags: .barrier) { tx in try tx.set("n", 1) }
      let version = queue.table.version
      let read = try queue.sync(flags: []) { view in try view.get("n") as Int? }
      let later = try queue.async(flags: []) { view in try view.get("n") as Int? }
      #expect(read == 1)
      #expect(try later.wait() == 1)
      #expect(queue.table.version == version)
      // A read joins the thread's section, where a barrier would be a deadlock.
      let joined = try queue.table.read { _ throws in try queue.sync(flags: []) { view in try view.contains("n") } }
      #expect(joined)
    }
  }
}

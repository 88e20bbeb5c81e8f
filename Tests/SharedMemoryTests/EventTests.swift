import Glibc
import SharedMemory
import TestSupport
import Testing

@Suite struct FutexEventTests {
  @Test(arguments: [true, false])
  func aSleeperInAnotherProcessIsWoken(workerWrites: Bool) throws {
    try withSharedPage(workerWrites: workerWrites) { page, _, worker in
      let event = FutexEvent(at: page)
      try worker.send("wait 0 0 3600000")
      // The value stays, so only the wake can end the sleep; it counts once the sleeper is there.
      #expect(eventually { event.wakeAll() == 1 })
      try worker.expectLine("woken")
    }
  }

  @Test func aChangeBeforeTheSleepIsNotMissed() throws {
    try withSharedPage { page, _, worker in
      FutexEvent(at: page).advance()
      #expect(FutexEvent(at: page).value == 1)
      try worker.ask("wait 0 0 3600000", expecting: "woken")
    }
  }

  @Test func everySleeperIsWoken() throws {
    try withSharedPage { page, name, first in
      let workers = [first, try startWorker(name), try startWorker(name, writes: false)]
      for worker in workers { try worker.send("wait 0 0 3600000") }
      for worker in workers { try worker.waitUntilAsleep(in: .futex) }
      FutexEvent(at: page).advance()
      for worker in workers { try worker.expectLine("woken") }
    }
  }

  @Test func aWaitEndsWithItsTime() throws {
    try withSharedPage { page, _, _ in
      let event = FutexEvent(at: page)
      let start = HostClock.monotonicNanoseconds
      #expect(event.wait(while: 0, timeoutNanoseconds: 20_000_000) == .timedOut)
      #expect(HostClock.monotonicNanoseconds - start >= 20_000_000)
      #expect(event.wait(while: 0, timeoutNanoseconds: 0) == .timedOut)
    }
  }

  @Test func anEventThatIsNotMappedIsAnAnswer() {
    let nowhere = FutexEvent(at: UnsafeMutableRawPointer(bitPattern: 4096)!)
    #expect(nowhere.wait(while: 0, timeoutNanoseconds: 1_000_000) == .failed(errno: EFAULT))
  }
}

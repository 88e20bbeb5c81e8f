import CShims
import Glibc
import SharedMemory
import TestSupport
import Testing

@Suite struct RobustMutexTests {
  @Test func theDeathOfTheOwnerIsSeenByTheNext() throws {
    try withSharedPage { page, name, worker in
      let mutex = RobustMutex(at: page)
      try mutex.initialize()
      try worker.ask("lock 0 1000", expecting: "acquired")
      #expect(mutex.tryLock() == .busy)
      try worker.killAndWait()

      #expect(mutex.tryLock() == .acquiredOwnerDied)
      try mutex.markConsistent()
      try mutex.unlock()

      let second = try startWorker(name)
      try second.ask("trylock 0", expecting: "acquired")
      try second.ask("unlock 0", expecting: "ok")
      try second.finish()
    }
  }

  @Test func aWaiterIsWokenByTheDeathOfTheOwner() throws {
    try withSharedPage { page, name, owner in
      try RobustMutex(at: page).initialize()
      try owner.ask("trylock 0", expecting: "acquired")
      let waiter = try startWorker(name)
      try waiter.send("lock 0 3600000")
      #expect(eventually { hasWaiters(page) })
      try owner.killAndWait()
      try waiter.expectLine("acquiredOwnerDied")
      try waiter.ask("consistent 0", expecting: "ok")
      try waiter.ask("unlock 0", expecting: "ok")
      try waiter.finish()
    }
  }

  @Test func theEndOfAThreadCountsAsDeath() throws {
    try withSharedPage { page, _, worker in
      try RobustMutex(at: page).initialize()
      try worker.ask("lock-in-thread-that-ends 0", expecting: "acquiredOwnerDied")
    }
  }

  @Test func aLostWakeUpDelaysAWaiterAndDoesNotStrandIt() throws {
    try withSharedPage { page, name, owner in
      try RobustMutex(at: page).initialize()
      try owner.ask("trylock 0", expecting: "acquired")
      let waiter = try startWorker(name)
      try waiter.send("lock 0 3600000")  // longer than the waiter may live
      #expect(eventually { hasWaiters(page) })
      // The lock becomes free and nobody wakes the waiter: what remains when the woken one was killed.
      page.storeBytes(of: 0, as: UInt32.self)
      try waiter.expectLine("acquired")
      try owner.killAndWait()
      try waiter.ask("unlock 0", expecting: "ok")
    }
  }

  @Test func unlockingUnrepairedMakesItUselessForEver() throws {
    try withSharedPage { page, name, worker in
      let mutex = RobustMutex(at: page)
      try mutex.initialize()
      try worker.ask("trylock 0", expecting: "acquired")
      try worker.killAndWait()
      #expect(mutex.lock(timeoutNanoseconds: 1_000_000_000) == .acquiredOwnerDied)
      try mutex.unlock()
      #expect(mutex.tryLock() == .notRecoverable)
      #expect(mutex.lock(timeoutNanoseconds: 1_000_000) == .notRecoverable)
      let other = try startWorker(name)
      for _ in 0..<2 { try other.ask("trylock 0", expecting: "notRecoverable") }
      #expect(mutex.tryLock() == .notRecoverable)
    }
  }

  @Test func aWaitEndsWithItsTime() throws {
    try withSharedPage { page, _, worker in
      let mutex = RobustMutex(at: page)
      try mutex.initialize()
      try worker.ask("trylock 0", expecting: "acquired")
      let start = HostClock.monotonicNanoseconds
      #expect(mutex.lock(timeoutNanoseconds: 120_000_000) == .timedOut)
      #expect(HostClock.monotonicNanoseconds - start >= 120_000_000)
      #expect(mutex.lock(timeoutNanoseconds: 0) == .timedOut)
      try worker.ask("unlock 0", expecting: "ok")
      #expect(mutex.lock(timeoutNanoseconds: .max) == .acquired)
      try mutex.unlock()
    }
  }

  @Test func misuseIsAnAnswer() throws {
    try withSharedPage { page, _, worker in
      let mutex = RobustMutex(at: page)
      try mutex.initialize()
      #expect(throws: SystemError(call: "pthread_mutex_unlock", errno: EPERM)) { try mutex.unlock() }
      #expect(mutex.lock(timeoutNanoseconds: 1_000_000) == .acquired)
      #expect(mutex.lock(timeoutNanoseconds: .max) == .wouldDeadlock)
      try worker.ask("unlock 0", expecting: "pthread_mutex_unlock: Operation not permitted (EPERM)")
      #expect(throws: SystemError(call: "pthread_mutex_consistent", errno: EINVAL)) { try mutex.markConsistent() }
      try mutex.unlock()
    }
  }

  /// The kernel's bit in the lock word, by which the owner knows that it must wake somebody.
  private func hasWaiters(_ mutex: UnsafeMutableRawPointer) -> Bool { shm_load32_relaxed(mutex) & 0x8000_0000 != 0 }
}

@Suite struct SharedRWLockTests {
  @Test func readersShareAndAWriterIsAlone() throws {
    try withSharedPage { page, _, worker in
      let lock = SharedRWLock(at: page)
      try lock.initialize()
      #expect(lock.tryRead() == .acquired)
      try worker.ask("tryread 0", expecting: "acquired")
      try worker.ask("trywrite 0", expecting: "busy")
      try worker.ask("rwunlock 0", expecting: "ok")
      lock.unlock()
      try worker.ask("trywrite 0", expecting: "acquired")
      #expect(lock.tryRead() == .busy)
      #expect(lock.tryWrite() == .busy)
      try worker.ask("rwunlock 0", expecting: "ok")
      #expect(lock.tryWrite() == .acquired)
      lock.unlock()
    }
  }

  @Test func aDeadHoldersHoldRemainsAndNobodyHangs() throws {
    try withSharedPage { page, name, worker in
      let lock = SharedRWLock(at: page)
      try lock.initialize()
      try worker.ask("tryread 0", expecting: "acquired")
      try worker.killAndWait()
      #expect(lock.tryWrite() == .busy)
      #expect(lock.tryRead() == .acquired)
      lock.unlock()

      let fresh = SharedRWLock(at: page + SharedRWLock.byteCount)
      try fresh.initialize()
      let writer = try startWorker(name)
      try writer.ask("trywrite 64", expecting: "acquired")
      try writer.killAndWait()
      #expect(fresh.tryRead() == .busy)
      #expect(fresh.tryWrite() == .busy)
    }
  }
}

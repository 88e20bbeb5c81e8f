import Foundation
import Synchronization
import Testing

/// What the thread sanitizer must be told, or it takes what threads do under a contended lock for a race.
@Suite struct ContendedMutexTests {
  @Test func aContendedMutexExcludes() {
    final class Counter: Sendable {
      // Not atomic: only the lock keeps its increments apart.
      let count = Mutex(0)
      let isOpen = Atomic(false)
    }
    let counter = Counter()
    let threads = (0..<4).map { _ in
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        while !counter.isOpen.load(ordering: .acquiring) {}
        for _ in 0..<2000 { counter.count.withLock { $0 += 1 } }
        done.signal()
      }
      return done
    }
    counter.isOpen.store(true, ordering: .releasing)
    for done in threads { done.wait() }
    #expect(counter.count.withLock { $0 } == 8000)
  }
}

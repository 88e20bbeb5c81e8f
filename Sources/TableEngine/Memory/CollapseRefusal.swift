import SharedMemory
import Synchronization

/// That the kernel refused this process a huge page of a table: its writes leave it alone until the table has another size, or for a
/// minute. Each attempt is a system call, and a kernel that knows no MADV_COLLAPSE refuses them all.
struct CollapseRefusal: ~Copyable, Sendable {
  private static let restNanoseconds: UInt64 = 60_000_000_000

  /// The size at the last one; 0 = there was none.
  private let size = Atomic(0)
  /// CLOCK_MONOTONIC.
  private let instant = Atomic<UInt64>(0)
  /// How many there were, for tests.
  let count = Atomic(0)

  /// Threads that note one at once leave a mixture: then the next attempt comes too early or too late by as much, and nothing else.
  func note(size: Int) {
    self.size.store(size, ordering: .relaxed)
    instant.store(HostClock.coarseNanoseconds, ordering: .relaxed)
    count.add(1, ordering: .relaxed)
  }

  /// Is a table of this size to be left alone?
  func stands(size: Int) -> Bool {
    return self.size.load(ordering: .relaxed) == size
      && HostClock.coarseNanoseconds &- instant.load(ordering: .relaxed) < Self.restNanoseconds
  }
}

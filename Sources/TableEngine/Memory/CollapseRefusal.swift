import SharedMemory
import Synchronization

/// Remembers that the kernel refused this process a huge page of a table. The process's writes do not ask again until
/// the table has another size, or a minute has passed: each attempt is a system call, and a kernel that knows no
/// MADV_COLLAPSE refuses them all.
struct CollapseRefusal: ~Copyable, Sendable {
  private static let restNanoseconds: UInt64 = 60_000_000_000

  /// The size at the last one; 0 = there was none.
  private let size = Atomic(0)
  /// CLOCK_MONOTONIC.
  private let instant = Atomic<UInt64>(0)
  /// How many there were, for tests.
  let count = Atomic(0)

  /// If several threads note a refusal at once, size and instant may be of different ones: then the next attempt comes
  /// too early or too late, and nothing else happens.
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

import CShims

/// Keeps this process from being forked.
///
/// A child has only the thread that forked. What another one had locked at that moment stays locked in the child for
/// ever (and Swift's `Mutex`, whose owner does not exist there, ends the process). So whoever takes a lock that a child
/// will want takes this one first.
public enum ForkLock {
  /// Runs `body` while no thread of this process forks. Not recursive, and never for long.
  public static func hold<R: ~Copyable>(_ body: () -> R) -> R {
    shm_fork_lock()
    defer { shm_fork_unlock() }
    return body()
  }
}

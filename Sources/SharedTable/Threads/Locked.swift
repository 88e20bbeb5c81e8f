import CShims
import Glibc

/// State that one thread at a time may touch.
///
/// A pthread mutex, and not Swift's own: the thread sanitizer knows this one, and would take each use of the other for a
/// race. It inherits priorities, so that a queue's bookkeeping is not held up by a thread that is not let run.
@safe
package final class Locked<State>: @unchecked Sendable {
  // Sendable because the state is touched only with the mutex held.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let state: UnsafeMutablePointer<State>

  package init(_ initial: State) {
    unsafe mutex = .allocate(capacity: 1)
    var attributes = pthread_mutexattr_t()
    unsafe pthread_mutexattr_init(&attributes)
    unsafe pthread_mutexattr_setprotocol(&attributes, Int32(PTHREAD_PRIO_INHERIT))
    // Without inheritance where the kernel does not offer it.
    if unsafe pthread_mutex_init(mutex, &attributes) != 0 { unsafe pthread_mutex_init(mutex, nil) }
    unsafe pthread_mutexattr_destroy(&attributes)
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(to: initial)
  }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Tries for about a microsecond, many times as long as anybody holds it. Who sleeps for a mutex that inherits priorities is handed
  /// it by the kernel; two threads that each need it often then wake each other every time.
  private func lockContended() {
    for _ in 0..<100 {
      shm_pause()
      if unsafe pthread_mutex_trylock(mutex) == 0 { return }
    }
    unsafe pthread_mutex_lock(mutex)
  }

  /// Waits for nobody for long: `body` must not, and must not come back here.
  @inline(__always)
  package func withLock<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
    if unsafe pthread_mutex_trylock(mutex) != 0 { lockContended() }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&state.pointee)
  }
}

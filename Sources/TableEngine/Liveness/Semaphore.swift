import Glibc

/// A process-private counting semaphore (sem_init(3)).
@safe
final class Semaphore: @unchecked Sendable {
  // Sendable because a semaphore is made for several threads, and its address never changes.
  private let place: UnsafeMutablePointer<sem_t>

  init() {
    unsafe place = .allocate(capacity: 1)
    unsafe sem_init(place, 0, 0)
  }

  deinit {
    unsafe sem_destroy(place)
    unsafe place.deallocate()
  }

  func post() { unsafe sem_post(place) }

  func wait() {
    while unsafe sem_wait(place) != 0 {}
  }
}

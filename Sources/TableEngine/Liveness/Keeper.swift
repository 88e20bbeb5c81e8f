import CShims
import Glibc
import SharedMemory
import Synchronization

/// The thread that holds the slots of long snapshots and of the process's presence.
///
/// A slot belongs to the thread that holds its robust mutex, and a snapshot may outlive the thread that took it.
/// So one thread a process, started at the first of them, claims and gives back slots on request and sleeps
/// otherwise. It never touches a table's contents.
final class Keeper: Sendable {
  static let shared = Keeper()

  private enum Request: Sendable {
    case claim(Slots, purpose: UInt64, @Sendable (Result<Int, EngineError>) -> Void)
    case release(Slots, Int)
  }

  private struct State {
    var requests: [Request] = []
    var forkGeneration = UInt64.max
  }

  private let state = Mutex(State())
  private let wakeUp = Semaphore()

  /// Claims a slot in the keeper's name. Blocks for a thread switch.
  func claim(_ slots: Slots, purpose: UInt64) throws(EngineError) -> Int {
    let done = Semaphore()
    let answer = Mutex<Result<Int, EngineError>>(.failure(.slotsExhausted(slots.count)))
    submit(
      .claim(slots, purpose: purpose) { result in
        answer.withLock { $0 = result }
        done.post()
      })
    done.wait()
    return try answer.withLock { $0 }.get()
  }

  /// Gives a slot back; does not wait for that to happen. What it announced was withdrawn by the caller.
  func release(_ slots: Slots, _ index: Int) { submit(.release(slots, index)) }

  /// The thread is one a process, and one more in each that is forked from it. A request stands in line before anybody
  /// starts the thread: whoever fails to start it tells all of them.
  private func submit(_ request: Request) {
    let needsThread = withState { state in
      let generation = shm_fork_generation()
      let isFirst = state.forkGeneration != generation
      // What a parent had asked for concerns the parent's slots.
      if isFirst { state = State(requests: [], forkGeneration: generation) }
      state.requests.append(request)
      return isFirst
    }
    if needsThread { startThread() }
    wakeUp.post()
  }

  private func startThread() {
    do throws(SystemError) {
      try unsafe ServiceThread.start { _ in
        ServiceThread.name("table-keeper")
        Keeper.shared.run()
        return nil
      }
    } catch {
      // The next request tries again.
      let abandoned = withState { state in
        defer { state = State() }
        return state.requests
      }
      for case .claim(_, _, let answer) in abandoned { answer(.failure(.system(error))) }
    }
  }

  private func withState<R: Sendable>(_ body: (inout State) -> R) -> R {
    ForkLock.hold { state.withLock { body(&$0) } }
  }

  private func run() {
    while true {
      wakeUp.wait()
      let request = withState { $0.requests.isEmpty ? nil : $0.requests.removeFirst() }
      switch request {
      case .claim(let slots, let purpose, let answer):
        do throws(EngineError) {
          answer(.success(try slots.claim(purpose: purpose)))
        } catch {
          answer(.failure(error))
        }
      case .release(let slots, let index):
        slots.release(index)
      case nil:
        break
      }
    }
  }
}

/// What a slot is for, for people who look at it.
enum SlotPurpose {
  static let thread = UInt64(SHM_SLOT_THREAD)
  static let snapshot = UInt64(SHM_SLOT_SNAPSHOT)
  static let presence = UInt64(SHM_SLOT_PRESENCE)
}

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

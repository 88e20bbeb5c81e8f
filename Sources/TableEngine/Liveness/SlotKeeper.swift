import CShims
import SharedMemory
import Synchronization

/// The thread that holds the slots of long snapshots and of the process's presence.
///
/// A slot belongs to the thread that holds its robust mutex, and a snapshot may outlive the thread that took it.
/// So one thread a process, started at the first of them, claims and gives back slots on request and sleeps
/// otherwise. It never touches a table's contents.
final class SlotKeeper: Sendable {
  static let shared = SlotKeeper()

  private enum Request: Sendable {
    case claim(ControlAttachment, purpose: UInt64, @Sendable (Result<Int, EngineError>) -> Void)
    /// Keeps the mutex mapped until it is unlocked.
    case release(ControlAttachment, Int)
  }

  private struct State {
    var requests: [Request] = []
    /// Nil before the first request.
    var forkGeneration: ForkGeneration?
  }

  private let state = Mutex(State())
  private let wakeUp = Semaphore()

  /// Claims a slot in the keeper's name. Blocks for a thread switch. The caller holds the attachment until
  /// ``release(_:_:)``.
  func claim(_ attachment: ControlAttachment, purpose: UInt64) throws(EngineError) -> Int {
    let done = Semaphore()
    let answer = Mutex<Result<Int, EngineError>>(.failure(.slotsExhausted(attachment.slots.count)))
    submit(
      .claim(attachment, purpose: purpose) { result in
        answer.withLock { $0 = result }
        done.post()
      })
    done.wait()
    return try answer.withLock { $0 }.get()
  }

  /// Gives a slot back; does not wait for that to happen. What it announced was withdrawn by the caller.
  func release(_ attachment: ControlAttachment, _ index: Int) { submit(.release(attachment, index)) }

  /// The thread is one a process, and one more in each that is forked from it. A request stands in line before anybody
  /// starts the thread: a thread that fails to start it tells all that stand there.
  private func submit(_ request: Request) {
    // What a parent had asked for concerns the parent's slots. Dropped after the locks, with what it refers to.
    var ofParent: [Request] = []
    defer { withExtendedLifetime(ofParent) {} }
    let needsThread = withState { state in
      let generation = ForkGeneration()
      let isFirst = state.forkGeneration != generation
      if isFirst {
        swap(&state.requests, &ofParent)
        state.forkGeneration = generation
      }
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
        SlotKeeper.shared.run()
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

  /// `body` must drop no request: the end of an attachment takes ForkLock itself.
  private func withState<R: Sendable>(_ body: (inout State) -> R) -> R {
    ForkLock.hold { state.withLock { body(&$0) } }
  }

  private func run() {
    while true {
      wakeUp.wait()
      let request = withState { $0.requests.isEmpty ? nil : $0.requests.removeFirst() }
      switch request {
      case .claim(let attachment, let purpose, let answer):
        do throws(EngineError) {
          answer(.success(try attachment.slots.claim(purpose: purpose)))
        } catch {
          answer(.failure(error))
        }
      case .release(let attachment, let index):
        attachment.slots.release(index)
      case nil:
        break
      }
    }
  }
}

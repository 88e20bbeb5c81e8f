import CShims
import SharedMemory
import Synchronization

/// A thread that holds the slots of long snapshots and of the process's presence.
///
/// A slot belongs to the thread that holds its robust mutex, and a snapshot may outlive the thread that took it.
/// So a thread of the library's own, started at the first of them, claims and gives back slots on request and sleeps
/// otherwise. It never touches a table's contents. It holds as many slots as the kernel can mark when it dies
/// (``Slots/mostOfThread``): for more there is another such thread.
final class SlotKeeper: Sendable {
  private enum Request: Sendable {
    case claim(ControlAttachment, purpose: UInt64, @Sendable (Result<Int, EngineError>) -> Void)
    /// Keeps the mutex mapped until it is unlocked.
    case release(ControlAttachment, Int)
  }

  private struct State {
    var requests: [Request] = []
    /// How many slots the thread holds, or is asked to claim.
    var slotCount = 0
    var hasThread = false
  }

  private static let all = Mutex<[SlotKeeper]>([])

  /// The thread is one a process, and another in each that is forked from it. What a parent had asked for concerns the parent's slots.
  ///
  /// Nobody drops a request with it locked: the end of an attachment takes ForkLock itself.
  private let state = ForkSafeState(State()) { _ in State() }
  private let wakeUp = Semaphore()

  /// Claims a slot in the name of one of these threads. Blocks for a thread switch. The caller holds the attachment until
  /// ``KeptSlot/release()``.
  static func claim(_ attachment: ControlAttachment, purpose: UInt64) throws(EngineError) -> KeptSlot {
    let keeper = withRoom()
    do throws(EngineError) {
      return KeptSlot(index: try keeper.claim(attachment, purpose), attachment: attachment, keeper: keeper)
    } catch {
      keeper.state.withLock { $0.slotCount -= 1 }
      throw error
    }
  }

  /// One that can hold one slot more; it is counted.
  private static func withRoom() -> SlotKeeper {
    // Not under ForkLock: what is asked below takes it.
    let known = ForkLock.hold { all.withLock { $0 } }
    if let keeper = known.first(where: { $0.countOneMore() }) { return keeper }
    let keeper = SlotKeeper()
    _ = keeper.countOneMore()
    ForkLock.hold { all.withLock { $0.append(keeper) } }
    return keeper
  }

  private func countOneMore() -> Bool {
    state.withLock { state in
      guard state.slotCount < Slots.mostOfThread else { return false }
      state.slotCount += 1
      return true
    }
  }

  private func claim(_ attachment: ControlAttachment, _ purpose: UInt64) throws(EngineError) -> Int {
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
  fileprivate func release(_ attachment: ControlAttachment, _ index: Int) { submit(.release(attachment, index)) }

  /// A request stands in line before any thread starts the keeper's: one that fails to start it tells all that stand there.
  private func submit(_ request: Request) {
    let needsThread = state.withLock { state in
      state.requests.append(request)
      defer { state.hasThread = true }
      return !state.hasThread
    }
    if needsThread { startThread() }
    wakeUp.post()
  }

  private func startThread() {
    do throws(SystemError) {
      try unsafe ServiceThread.start(Unmanaged.passUnretained(self).toOpaque()) { keeper in
        ServiceThread.name("table-keeper")
        unsafe Unmanaged<SlotKeeper>.fromOpaque(keeper!).takeUnretainedValue().run()
        return nil
      }
    } catch {
      // The next request tries again.
      let abandoned = state.withLock { state in
        defer { (state.requests, state.hasThread) = ([], false) }
        return state.requests
      }
      for case .claim(_, _, let answer) in abandoned { answer(.failure(.system(error))) }
    }
  }

  private func run() {
    while true {
      wakeUp.wait()
      let request = state.withLock { $0.requests.isEmpty ? nil : $0.requests.removeFirst() }
      switch request {
      case .claim(let attachment, let purpose, let answer):
        do throws(EngineError) {
          answer(.success(try attachment.slots.claim(purpose: purpose)))
        } catch {
          answer(.failure(error))
        }
      case .release(let attachment, let index):
        attachment.slots.release(index)
        state.withLock { $0.slotCount -= 1 }
      case nil:
        break
      }
    }
  }
}

/// A slot that a ``SlotKeeper`` holds.
struct KeptSlot: Sendable {
  let index: Int
  fileprivate let attachment: ControlAttachment
  fileprivate let keeper: SlotKeeper

  /// Gives the slot back; does not wait for that to happen. What it announced was withdrawn by the caller.
  func release() { keeper.release(attachment, index) }
}

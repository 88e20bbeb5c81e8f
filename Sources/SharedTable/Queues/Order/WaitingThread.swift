import Dispatch

/// A `sync`: the calling thread sleeps until its turn and then runs the section itself.
final class WaitingThread: Submission, @unchecked Sendable {
  private let turn = DispatchSemaphore(value: 0)

  override var waitingThread: WaitingThread? { self }

  func wake() { turn.signal() }

  /// - Returns: whether the turn has come.
  func wait(_ deadline: Deadline) -> Bool { turn.wait(timeout: deadline.dispatchTime) == .success }
}

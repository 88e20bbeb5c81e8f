/// Holding work back for a while.
extension BarrierQueue {
  /// Keeps everything from beginning that has not begun, until ``resume()`` was called as often as this.
  ///
  /// As `DispatchQueue.suspend()`. What has begun goes on to its end. What is submitted meanwhile has its place in the order; `sync`
  /// waits, for its timeout at most, and `async` throws `queueFull` once the queue's limit is reached. Other queues and direct
  /// sections of the table go on: the order is this queue's alone. A suspended queue is kept, with its work, though nobody
  /// refers to it; a process that exits meanwhile says on standard error how much was not done.
  ///
  /// Never blocks. In a forked child it does nothing, as nothing runs there.
  public func suspend() {
    guard table.isOfThisProcess else { return }
    // Given back by `resume`: else the work of a queue that is let go would never run, nor end. Taken before the queue is
    // suspended: another thread may resume it at once.
    let reference = unsafe Unmanaged.passRetained(self)
    let wasGoingOn = withOrder { order in
      isSuspended.store(true, ordering: .relaxed)
      return order.suspend()
    }
    if !wasGoingOn { unsafe reference.release() }
  }

  /// Ends one ``suspend()``. What waits begins in its order once all have ended.
  ///
  /// A call more than ``suspend()`` was called is a mistake of the program, and ends it.
  public func resume() {
    guard table.isOfThisProcess else { return }
    let goesOn = withOrder { order in
      let goesOn = order.resume()
      isSuspended.store(!goesOn, ordering: .relaxed)
      return goesOn
    }
    if goesOn { unsafe Unmanaged.passUnretained(self).release() }
  }
}

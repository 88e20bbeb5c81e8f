import CShims

/// How many slots a thread may have, which is how many tables it may use.
extension Slots {
  /// So many slots a thread holds at most. When a thread dies, the kernel marks 2,048 of its robust mutexes and no more (ROBUST_LIST_LIMIT):
  /// a slot beyond that would belong to the dead thread for ever. A thread may hold some of other kinds besides.
  static let mostOfThread = 2_000

  /// - Throws: `unsupported` in a thread that uses as many tables as it may.
  static func checkThreadHasRoomForOneMore() throws(EngineError) {
    var count = 0
    var record = unsafe shm_thread_next(nil)
    while let current = unsafe record {
      if unsafe current.pointee.slot != nil { count += 1 }
      unsafe record = shm_thread_next(current)
    }
    guard count < mostOfThread else {
      throw .unsupported(
        "the use of more than \(mostOfThread) tables by one thread", instead: "use some of them on another thread")
    }
  }
}

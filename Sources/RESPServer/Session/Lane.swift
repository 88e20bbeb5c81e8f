import NIOPosix

/// The thread that waits for a table in the name of all connections, one after the other: a barrier that another process
/// holds for long stops writes to its table, and neither reads nor other tables.
final class Lane: Sendable {
  /// How long one command waits at most, from when it is handed over.
  static let patience = Duration.seconds(5)

  private let pool: NIOThreadPool

  /// The thread is started by the first piece of work.
  init() { pool = NIOThreadPool(numberOfThreads: 1) }

  func run(_ work: @escaping @Sendable (_ patience: Duration) -> Void) {
    let end = ContinuousClock.now + Self.patience
    pool.start()
    pool.submit { state in
      // Work that is cancelled at the end has a connection that is gone.
      if state == .active { work(max(.zero, end - ContinuousClock.now)) }
    }
  }

  func stop() { pool.shutdownGracefully { _ in } }
}

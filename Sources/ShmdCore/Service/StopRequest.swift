import ServiceLifecycle
import UnixSignals

/// SIGTERM or SIGINT, from before the first table is made on.
///
/// The start may read stores for minutes, and programs write the tables that were there first meanwhile. Were a signal to end the process then, what
/// they wrote would not be stored, and whoever dropped the tables after the stop would lose it.
struct StopRequest: Service {
  private let made = Latch()

  /// Traps the signals as long as the process lives. The first one also tells the table thread, and ends the prolonging of the start.
  init(_ keeper: TableKeeper, _ timeout: StartTimeout) async {
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let made = made
    Task {
      for await _ in signals {
        keeper.stopping.open()
        timeout.end()
        made.open()
      }
    }
  }

  var isMade: Bool { made.isOpen }

  /// Returns when it is made: then the group of the services ends them all.
  func run() async { await cancelWhenGracefulShutdown { await made.wait() } }
}

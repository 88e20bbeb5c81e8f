import ServiceLifecycle
import SharedMemory
import SharedTable

/// Turns the table loop until the daemon stops.
struct MaintenanceService: Service {
  let keeper: TableKeeper
  let settings: Settings
  let startup: Startup
  let status: StatusLine
  let watchdog: Watchdog
  let timeout: StartTimeout

  func run() async throws {
    await withGracefulShutdownHandler {
      // A table that lost its name meanwhile comes back in it, and READY comes after it.
      await keeper.turn {
        watchdog.beat()
        timeout.beat()
      }
      startup.turned.open()
      await loop()
    } onGracefulShutdown: {
      timeout.end()
      status.stop()
    }
  }

  /// A reload may make the interval shorter: so long after it, at most, the new one counts.
  private static let longestPause = Duration.seconds(1)

  private func loop() async {
    var lastTurn = HostClock.monotonicNanoseconds
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      let left = Duration.nanoseconds(Int64(clamping: nanosecondsLeft(after: lastTurn)))
      let pause = min(left, Self.longestPause, watchdog.longestPause ?? Self.longestPause)
      // Ends early when the daemon is to stop, and that is all an error can mean here.
      await cancelWhenGracefulShutdown { try? await Task.sleep(for: pause) }
      if nanosecondsLeft(after: lastTurn) == 0 {
        await turn()
        status.update(await keeper.report)
        lastTurn = HostClock.monotonicNanoseconds
      } else {
        // Through the table thread too: it is that thread's pulse.
        await keeper.beat { watchdog.beat() }
      }
    }
  }

  /// Until the next turn, by the interval that is in force now.
  private func nanosecondsLeft(after lastTurn: UInt64) -> UInt64 {
    let (interval, passed) = (settings.interval.clampedNanoseconds, HostClock.monotonicNanoseconds &- lastTurn)
    return interval > passed ? interval - passed : 0
  }

  private func turn() async { await keeper.turn { watchdog.beat() } }
}

import ServiceLifecycle
import SharedMemory
import SharedTable

/// Makes round after round until the daemon stops.
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
      await keeper.lookAfterTables {
        watchdog.beat()
        timeout.beat()
      }
      startup.firstRoundOver.open()
      await loop()
    } onGracefulShutdown: {
      timeout.end()
      status.stop()
    }
  }

  /// A reload may make the interval shorter: so long after it, at most, the new one counts.
  private static let longestPause = Duration.seconds(1)

  private func loop() async {
    var lastRound = HostClock.monotonicNanoseconds
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      let left = Duration.nanoseconds(Int64(clamping: nanosecondsLeft(after: lastRound)))
      let pause = min(left, Self.longestPause, watchdog.longestPause ?? Self.longestPause)
      // Ends early when the daemon is to stop, and that is all an error can mean here.
      await cancelWhenGracefulShutdown { try? await Task.sleep(for: pause) }
      if nanosecondsLeft(after: lastRound) == 0 {
        await makeRound()
        status.update(await keeper.report)
        lastRound = HostClock.monotonicNanoseconds
      } else {
        // Through the table thread too: it is that thread's pulse.
        await keeper.beat { watchdog.beat() }
      }
    }
  }

  /// Until the next round, by the interval that is in force now.
  private func nanosecondsLeft(after lastRound: UInt64) -> UInt64 {
    let (interval, passed) = (settings.interval.clampedNanoseconds, HostClock.monotonicNanoseconds &- lastRound)
    return interval > passed ? interval - passed : 0
  }

  private func makeRound() async { await keeper.lookAfterTables { watchdog.beat() } }
}

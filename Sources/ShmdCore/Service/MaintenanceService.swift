import ServiceLifecycle
import SharedMemory
import SharedTable

/// Turns the table loop until the daemon stops.
struct MaintenanceService: Service {
  let keeper: TableKeeper
  let settings: Settings
  let startup: Startup
  let notifier: Notifier
  let status: StatusLine
  let watchdog: Watchdog

  func run() async throws {
    await withGracefulShutdownHandler {
      await turn()
      startup.turned.open()
      await loop()
    } onGracefulShutdown: {
      notifier.send("STOPPING=1", "STATUS=stopping, the tables stay in place")
    }
  }

  private func loop() async {
    var lastTurn = HostClock.monotonicNanoseconds
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      let interval = settings.interval
      let slice = min(interval, watchdog.longestPause ?? interval)
      // Ends early when the daemon is to stop, and that is all an error can mean here.
      await cancelWhenGracefulShutdown { try? await Task.sleep(for: slice) }
      let now = HostClock.monotonicNanoseconds
      if now &- lastTurn >= interval.clampedNanoseconds {
        await turn()
        status.update(await keeper.report)
        lastTurn = now
      } else {
        // Through the table thread too: it is that thread's pulse.
        await keeper.beat { watchdog.beat() }
      }
    }
  }

  private func turn() async { await keeper.turn { watchdog.beat() } }
}

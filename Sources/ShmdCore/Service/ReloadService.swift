import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the configuration anew at SIGHUP. A bad one is refused whole, and the daemon goes on with what it has.
struct ReloadService: Service {
  let file: String
  /// What the daemon started with: its servers go on by that.
  let started: Configuration
  let hangUps: UnixSignalsSequence
  let startup: Startup
  let lock: InstanceLock
  let watchdog: Watchdog
  let keeper: TableKeeper
  let settings: Settings
  let threshold: ServiceLog.Threshold
  let status: StatusLine
  let log: Logger

  func run() async throws {
    // The READY of a reload would tell the manager that the start is over.
    await cancelWhenGracefulShutdown { await startup.told.wait() }
    var reloads = InstanceLock.Reloads()
    // A reload reads the newest file: it answers all that were asked for before it begins.
    try await hangUps.cancelOnGracefulShutdown().forEachMerged {
      // What is asked for while the daemon stops is left to the next one.
      if Task.isShuttingDownGracefully { return }
      // Before the daemon reads the file. A `shmd --reload` that finds this count waits for the next reload: this one may read the file
      // as it was before its user changed it.
      reloads.begun += 1
      lock.write(reloads)
      reloads.isRefused = await !reload()
      reloads.ended = reloads.begun
      lock.write(reloads)
    }
  }

  /// - Returns: whether the file is in force now.
  private func reload() async -> Bool {
    status.beginReload()
    log.info("reloading", metadata: ["file": "\(file)"])
    let isAccepted = await apply()
    status.update(await keeper.report, isReady: true)
    return isAccepted
  }

  private func apply() async -> Bool {
    do throws(Refusal) {
      let configuration = try await ConfigurationThread.shared.read(file: file)
      try await keeper.apply(configuration) { watchdog.beat() }
      settings.accept(configuration)
      keeper.counters.count(\.reloads)
      threshold.value = configuration.logLevel
      for key in configuration.unserved(since: started) {
        log.warning(
          "changed, and counts from the next start on; run: systemctl restart shmd",
          metadata: ["key": "\(key.rawValue)"])
      }
      log.notice("configuration reloaded", metadata: ["file": "\(file)", "tables": "\(configuration.tables.count)"])
      return true
    } catch {
      settings.refuse(error)
      keeper.counters.count(\.refusedReloads)
      for problem in error.problems { log.error("\(problem)") }
      log.error("configuration refused, nothing has changed", metadata: ["file": "\(file)"])
      return false
    }
  }
}

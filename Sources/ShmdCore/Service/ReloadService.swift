import Logging
import ServiceLifecycle
import SharedMemory
import UnixSignals

/// Reads the configuration anew at SIGHUP. A bad one is refused whole, and the daemon goes on with what it has.
struct ReloadService: Service {
  let file: String
  let hangUps: UnixSignalsSequence
  let keeper: TableKeeper
  let settings: Settings
  let threshold: ServiceLog.Threshold
  let notifier: Notifier
  let status: StatusLine
  let log: Logger

  func run() async throws {
    for await _ in hangUps.cancelOnGracefulShutdown() { await reload() }
  }

  private func reload() async {
    notifier.send("RELOADING=1", "MONOTONIC_USEC=\(HostClock.monotonicNanoseconds / 1000)")
    log.info("reloading", metadata: ["file": "\(file)"])
    do throws(Refusal) {
      let configuration = try ConfigurationReader.read(file: file)
      try await keeper.apply(configuration)
      settings.accept(configuration)
      threshold.value = configuration.logLevel
      log.notice("configuration reloaded", metadata: ["file": "\(file)", "tables": "\(configuration.tables.count)"])
    } catch {
      settings.refuse(error)
      for problem in error.problems { log.error("\(problem)") }
      log.error("configuration refused, nothing has changed", metadata: ["file": "\(file)"])
    }
    status.update(await keeper.report, isReady: true)
  }
}

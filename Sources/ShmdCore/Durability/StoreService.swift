import Logging
import ServiceLifecycle

/// Tells the service manager of stores in trouble, and stores what is left when the daemon stops.
struct StoreService: Service {
  let stores: Stores
  let settings: Settings
  let keeper: TableKeeper
  let notifier: Notifier

  func run() async throws {
    var said: String?
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      await cancelWhenGracefulShutdown { try? await Task.sleep(for: .seconds(1)) }
      let trouble = stores.trouble
      if trouble != said {
        let status = settings.status(tableCount: await keeper.names.count)
        notifier.send("STATUS=\(status)\(trouble.map { "; \($0)" } ?? "")")
        said = trouble
      }
    }
    await stores.stop()
  }
}

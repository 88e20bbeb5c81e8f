import Logging
import ServiceLifecycle

/// Says READY when the start is over: the first round is over, and each server listens or has failed its first attempt to.
///
/// It is the last of the services, and so the first that ends when the daemon stops: the servers close their sockets after it, and no
/// READY is said of a socket that is closed. It also tells the table thread of the stop: services hear of it one after the other, and the next
/// ones may wait for that thread, which may be making a table.
struct ReadyService: Service {
  let startup: Startup
  let keeper: TableKeeper
  let status: StatusLine
  let log: Logger
  /// How long READY waits for the servers once the first round is over. A path may lie on a file system that does not answer.
  var patience: Duration = .seconds(5)

  func run() async throws {
    try await withGracefulShutdownHandler {
      try await sayReady()
    } onGracefulShutdown: {
      keeper.stopping.open()
    }
  }

  private func sayReady() async throws {
    await cancelWhenGracefulShutdown { await waitForStart() }
    guard !Task.isCancelled, !Task.isShuttingDownGracefully else { return }
    for server in startup.attempting {
      log.warning("ready, though a server does not listen yet", metadata: ["server": "\(server)"])
    }
    let names = await keeper.names
    // Whoever reads READY and asks for /ready is to hear the same.
    startup.ready.open()
    status.update(await keeper.report, isReady: true)
    log.notice("ready", metadata: ["tables": "\(names.joined(separator: " "))"])
    startup.told.open()
    // A service that ends would end the daemon.
    try await gracefulShutdown()
  }

  private func waitForStart() async {
    await startup.firstRoundOver.wait()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for server in Startup.Server.allCases { await startup.attempted(server).wait() } }
      group.addTask { try? await Task.sleep(for: patience) }
      await group.next()
      group.cancelAll()
    }
  }
}

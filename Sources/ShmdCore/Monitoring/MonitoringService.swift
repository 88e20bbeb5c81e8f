import Logging
import ServiceLifecycle
import SharedMemory
import StatusServer
import ToolSupport

/// Takes samples, and serves the pages made of them, until the daemon stops. Where it listens changes with a restart.
struct MonitoringService: Service {
  /// Nil: nobody asked for it.
  let configuration: Listening?
  let passed: PassedSockets
  let keeper: TableKeeper
  let startup: Startup
  let log: Logger

  /// From the end of one sample to the begin of the next: a second, and twenty times what the last one took, so that looking
  /// takes no more than a twentieth of the table thread. At most a minute: if the process was stopped within a sample, that time counts as
  /// the sample's.
  private static let pauseNanoseconds: ClosedRange<UInt64> = 1_000_000_000...60_000_000_000
  private static let pauseFactor: UInt64 = 20

  static func pause(after sample: HostSample) -> UInt64 {
    let (pause, overflow) = pauseFactor.multipliedReportingOverflow(by: sample.tookNanoseconds)
    return min(max(pauseNanoseconds.lowerBound, overflow ? .max : pause), pauseNanoseconds.upperBound)
  }

  func run() async throws {
    let monitor = Monitor(startup)
    let server = await start(monitor)
    startup.attempted(.monitoring).open()
    // A service that ends would end the daemon.
    guard let server else { return try await gracefulShutdown() }
    await sample(monitor)
    await server.stop()
  }

  /// - Returns: nil if nobody asked for it, or if it cannot listen.
  private func start(_ monitor: Monitor) async -> StatusServer? {
    guard let configuration else { return nil }
    await monitor.take(from: keeper)
    var options = StatusServerOptions(
      socket: configuration.path, listen: configuration.listen.map { ($0.host, $0.port) })
    options.socketMode = configuration.mode ?? 0o660
    let server: StatusServer
    do {
      options.bound = try passed.sockets("monitoring", configuration, log)
      server = StatusServer(options) { monitor.page($0) }
      try await server.start()
    } catch {
      // What keeps the tables does not end because somebody else has the port.
      log.error("monitoring not served", metadata: ["problem": "\(error)"])
      startup.fail(.monitoring, error)
      return nil
    }
    log.notice(
      "monitoring served",
      metadata: [
        "socket": "\(configuration.socket ?? "-")", "listen": "\(configuration.listen?.description ?? "-")",
      ])
    return server
  }

  private func sample(_ monitor: Monitor) async {
    while !Task.isCancelled, !Task.isShuttingDownGracefully {
      let pause = Self.pause(after: monitor.sample)
      // Ends early when the daemon is to stop, and that is all an error can mean here.
      await cancelWhenGracefulShutdown { try? await Task.sleep(for: .nanoseconds(Int64(clamping: pause))) }
      await monitor.take(from: keeper)
    }
  }
}

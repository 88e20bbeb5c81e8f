import Glibc
import Logging
import ServiceLifecycle
import SharedMemory
import UnixSignals

/// The daemon from its first look at the configuration to its exit code.
public struct Daemon: Sendable {
  public let configurationFile: String
  public let runtimeDirectory: String

  public init(configurationFile: String, runtimeDirectory: String) {
    self.configurationFile = configurationFile
    self.runtimeDirectory = runtimeDirectory
  }

  /// Where the lock file goes unless said otherwise: what the service manager made, or /run/shmd.
  public static var defaultRuntimeDirectory: String {
    // systemd gives several directories separated by colons.
    let given = HostFile.environment("RUNTIME_DIRECTORY")?.split(separator: ":").first
    return given.map(String.init) ?? "/run/shmd"
  }

  /// Checks the configuration, also against the tables that run, and changes nothing.
  public func check() -> ExitStatus {
    do throws(Refusal) {
      let configuration = try ConfigurationReader.read(file: configurationFile)
      let plan = Plan(configuration, access: .observer)
      for warning in plan.warnings { Self.complain("\(warning)") }
      if !plan.problems.isEmpty { throw Refusal(plan.problems) }
      return .success
    } catch {
      return complain(error)
    }
  }

  /// Runs until SIGTERM or SIGINT.
  public func run() async -> ExitStatus {
    HostProcess.ignoreSignalsWithoutMeaning()
    HostProcess.raiseDescriptorLimit()
    // From here on a SIGHUP waits for the reload service instead of ending the process.
    let hangUps = await UnixSignalsSequence(trapping: .sighup)
    let configuration: Configuration
    do throws(Refusal) {
      configuration = try ConfigurationReader.read(file: configurationFile)
    } catch {
      return complain(error)
    }
    let lock: InstanceLock
    do throws(InstanceLock.Failure) {
      lock = try InstanceLock.take(directory: runtimeDirectory)
    } catch {
      return complain(error)
    }
    defer { lock.release() }
    return await run(configuration, hangUps)
  }

  private func run(_ configuration: Configuration, _ hangUps: UnixSignalsSequence) async -> ExitStatus {
    let threshold = ServiceLog.Threshold()
    threshold.value = configuration.logLevel
    let log = Logger(label: "shmd") { _ in ServiceLog(threshold) }
    let keeper = TableKeeper(log: log)
    do throws(Refusal) {
      try await keeper.apply(configuration)
    } catch {
      return complain(error)
    }
    do {
      try await services(configuration, threshold, log, keeper, hangUps).run()
      log.notice("stopped, the tables stay in place")
      return .success
    } catch {
      log.critical("stopped by a failure", metadata: ["problem": "\(error)"])
      return .failure
    }
  }

  /// One service a concern; they end in the reverse order.
  private func services(
    _ configuration: Configuration, _ threshold: ServiceLog.Threshold, _ log: Logger, _ keeper: TableKeeper,
    _ hangUps: UnixSignalsSequence
  ) -> ServiceGroup {
    let notifier = Notifier(socket: HostFile.environment("NOTIFY_SOCKET"))
    let settings = Settings(configuration)
    let watchdog = Watchdog(notifier, microseconds: Watchdog.microseconds(of: HostFile.environment))
    let reload = ReloadService(
      file: configurationFile, hangUps: hangUps, keeper: keeper, settings: settings, threshold: threshold,
      notifier: notifier, log: log)
    let maintenance = MaintenanceService(
      keeper: keeper, settings: settings, notifier: notifier, watchdog: watchdog, log: log)
    return ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: reload, serviceName: "reload"), .init(service: maintenance, serviceName: "maintenance"),
          .init(service: RESPService(configuration: configuration, log: log), serviceName: "resp"),
        ], gracefulShutdownSignals: [.sigterm, .sigint], logger: log))
  }

  // MARK: - Complaints before there is a service

  private func complain(_ refusal: Refusal) -> ExitStatus {
    for problem in refusal.problems { Self.complain("\(problem)") }
    return refusal.isHostFailure ? .failure : .badConfiguration
  }

  private func complain(_ failure: InstanceLock.Failure) -> ExitStatus {
    let path = InstanceLock.path(in: runtimeDirectory)
    switch failure {
    case .held(let pid):
      let who = pid.map { " (pid \($0))" } ?? ""
      Self.complain("\(path): another shmd runs already\(who); stop it first, or give --runtime-directory")
      return .alreadyRunning
    case .system(let error):
      Self.complain("\(path): cannot be locked: \(error); make the directory, or give --runtime-directory")
      return .failure
    }
  }

  /// Bare on a terminal, so that the line begins with the file's name; with its priority in the journal.
  private static func complain(_ line: String) {
    let start = ServiceLog.leadsToJournal ? "<3>" : ""
    HostFile.write(Array("\(start)\(line)\n".utf8), to: STDERR_FILENO)
  }
}

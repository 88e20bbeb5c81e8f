import Glibc
import Logging
import ServiceLifecycle
import SharedMemory
import ToolSupport
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
    let given = HostProcess.environment("RUNTIME_DIRECTORY")?.split(separator: ":").first
    return given.map(String.init) ?? "/run/shmd"
  }

  /// The user that the unit runs as.
  public static let serviceUser = "shmd"

  /// Checks the configuration, also against the tables that live and /dev/shm's room, and changes nothing.
  /// - Parameter user: as whom, if root checks: rights and trust are a user's. The process is that user's afterwards.
  public func check(as user: String) -> ExitStatus {
    do throws(Complaint) {
      try HostProcess.become(user)
    } catch {
      // What is wrong with the file is wrong for every user.
      let status = complaintOfFile
      Self.complain("--check as user '\(user)': \(error.message)")
      return status ?? .failure
    }
    let plan: Plan
    do throws(Refusal) {
      plan = Plan(try ConfigurationReader.read(file: configurationFile), access: .observer)
      let problems = plan.problems + plan.refusedChanges
      if !problems.isEmpty { throw Refusal(problems) }
    } catch {
      return complain(error)
    }
    for warning in plan.warnings + plan.strangers + plan.unfinished { Self.complain("\(warning)") }
    for obstacle in plan.obstacles { Self.complain("\(obstacle)") }
    return plan.obstacles.isEmpty ? .success : .failure
  }

  /// Says what the file alone is refused for; nil if it is not.
  private var complaintOfFile: ExitStatus? {
    do throws(Refusal) {
      _ = try ConfigurationReader.read(file: configurationFile)
      return nil
    } catch {
      return complain(error)
    }
  }

  /// Checks the configuration and has the daemon that runs read it: what `systemctl reload` starts. Returns when it has.
  public func reload() -> ExitStatus {
    do throws(Refusal) {
      let problems = Plan(try ConfigurationReader.read(file: configurationFile), access: .observer).problems
      if !problems.isEmpty { throw Refusal(problems) }
    } catch {
      return complain(error)
    }
    let path = InstanceLock.path(in: runtimeDirectory)
    let running: RunningDaemon
    do throws(SystemError) {
      guard let found = try RunningDaemon(directory: runtimeDirectory) else {
        Self.complain("\(path): no shmd runs here; start it, or give --runtime-directory")
        return .failure
      }
      running = found
    } catch {
      Self.complain("\(path): cannot be read: \(error); run this as root, or as the daemon's user")
      return .failure
    }
    do throws(SystemError) {
      let outcome = try running.reload()
      if let complaint = outcome.complaint(running.pid) { Self.complain("\(configurationFile): \(complaint)") }
      switch outcome {
      case .accepted: return .success
      case .refused: return .badConfiguration
      case .ended, .notBegun, .unfinished: return .failure
      }
    } catch {
      Self.complain("the daemon (pid \(running.pid)) cannot be told: \(error); be its user, or root")
      return .failure
    }
  }

  /// Prints what is in force with this file, each value with where it comes from.
  public func printConfiguration() -> ExitStatus {
    do throws(Refusal) {
      let configuration = try ConfigurationReader.read(file: configurationFile)
      return Self.print(ConfigurationText.text(of: configuration), "the configuration")
    } catch {
      return complain(error)
    }
  }

  /// Prints what was asked for. Who keeps it must not take a part of it for the whole.
  /// - Parameter what: for the complaint.
  public static func print(_ text: String, _ what: String) -> ExitStatus {
    let error = WholeWrite.write(text.utf8, to: STDOUT_FILENO, waits: false)
    if error == 0 { return .success }
    complain("\(what) cannot be printed: \(SystemError(call: "write", errno: error)); look where it goes")
    return .failure
  }

  /// Runs until SIGTERM or SIGINT.
  public func run() async -> ExitStatus {
    HostProcess.ignoreSignalsWithoutMeaning()
    HostProcess.raiseDescriptorLimit()
    // From here on a SIGHUP waits for the reload service instead of ending the process.
    let hangUps = await UnixSignalsSequence(trapping: .sighup)
    let configuration: Configuration
    do throws(Refusal) {
      configuration = try await readConfiguration()
    } catch {
      let status = complain(error)
      return error.isTemporary ? .temporary : status
    }
    let lock: InstanceLock
    do throws(InstanceLock.Failure) {
      lock = try await takeLock()
    } catch {
      return complain(error)
    }
    defer { lock.release() }
    return await run(configuration, hangUps, lock)
  }

  /// How long a daemon that a service manager started waits for the one before it, or for its users and groups. Five such starts and their
  /// pauses fill the minute in which the unit allows twenty: the manager never gives up.
  private static let patience = Duration.seconds(10)

  /// Reads the configuration. A service manager may start the daemon before the users and groups of LDAP can be looked up: they are waited for.
  private func readConfiguration() async throws(Refusal) -> Configuration {
    let deadline = ContinuousClock.now + (notifier.hasManager ? Self.patience : .zero)
    while true {
      do throws(Refusal) {
        return try await ConfigurationThread.shared.read(file: configurationFile)
      } catch {
        guard error.isTemporary, .now < deadline else { throw error }
        notifier.send("STATUS=waits for users and groups that cannot be looked up yet")
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  /// Takes the lock of the runtime directory. Without a service manager a daemon that runs already is a mistake, said at once. With one
  /// it may be the daemon before, which hangs in its disk and does not end although the manager has killed it: its lock is waited for.
  private func takeLock() async throws(InstanceLock.Failure) -> InstanceLock {
    let deadline = ContinuousClock.now + (notifier.hasManager ? Self.patience : .zero)
    while true {
      do throws(InstanceLock.Failure) {
        return try InstanceLock.take(directory: runtimeDirectory)
      } catch {
        guard case .held(let pid) = error, .now < deadline else { throw error }
        notifier.send("STATUS=waits for another shmd\(pid.map { " (pid \($0))" } ?? "") to end")
        // Not cancelled: no service runs yet. SIGTERM ends the process.
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  private func run(
    _ configuration: Configuration, _ hangUps: UnixSignalsSequence, _ lock: InstanceLock
  ) async -> ExitStatus {
    let threshold = ServiceLog.Threshold()
    threshold.value = configuration.logLevel
    let log = Logger(label: "shmd") { _ in ServiceLog(threshold) }
    let passed = PassedSockets.ofThisProcess(for: configuration)
    let keeper = TableKeeper(log: log, writeSocket: WriteSocket(configuration, passed))
    let timeout = StartTimeout(notifier)
    let stop = await StopRequest(keeper, timeout)
    do throws(Refusal) {
      try await keeper.apply(configuration) { timeout.beat() }
    } catch {
      return complain(error)
    }
    do {
      if stop.isMade {
        await keeper.mirrors.stop()
        await keeper.stores.stop()
      } else {
        try await services(
          of: configuration, passed: passed, threshold: threshold, log: log, keeper: keeper, timeout: timeout,
          hangUps: hangUps, stop: stop, lock: lock
        ).run()
      }
      // Whoever stops it to drop the tables must learn that these alone hold what was written last.
      let unfinished = keeper.stores.unfinished
      guard unfinished.isEmpty else {
        log.critical(
          "stopped, and not all is stored: the tables in memory alone hold it",
          metadata: ["problem": "\(unfinished.joined(separator: "; "))"])
        return .failure
      }
      log.notice("stopped, the tables stay in place")
      return .success
    } catch {
      log.critical("stopped by a failure", metadata: ["problem": "\(error)"])
      return .failure
    }
  }

  private var notifier: Notifier { Notifier(socket: HostProcess.environment("NOTIFY_SOCKET")) }

  /// One service a concern; they end in the reverse order.
  private func services(
    of configuration: Configuration, passed: PassedSockets, threshold: ServiceLog.Threshold, log: Logger,
    keeper: TableKeeper, timeout: StartTimeout, hangUps: UnixSignalsSequence, stop: StopRequest, lock: InstanceLock
  ) -> ServiceGroup {
    let notifier = notifier
    let settings = Settings(configuration)
    let startup = Startup()
    let status = StatusLine(notifier, settings, startup)
    let watchdog = Watchdog(notifier, microseconds: Watchdog.microseconds(of: HostProcess.environment))
    let reload = ReloadService(
      file: configurationFile, started: configuration, hangUps: hangUps, startup: startup, lock: lock,
      watchdog: watchdog, keeper: keeper, settings: settings, threshold: threshold, status: status, log: log)
    let maintenance = MaintenanceService(
      keeper: keeper, settings: settings, startup: startup, status: status, watchdog: watchdog, timeout: timeout)
    if !passed.unwanted.isEmpty {
      log.warning(
        "sockets were passed that no 'socket: systemd' asks for, closed",
        metadata: ["names": "\(passed.unwanted.joined(separator: " "))"])
    }
    return ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: stop, successTerminationBehavior: .gracefullyShutdownGroup, serviceName: "stop"),
          .init(service: StoreService(stores: keeper.stores), serviceName: "stores"),
          .init(service: MirrorService(mirrors: keeper.mirrors), serviceName: "mirrors"),
          .init(service: reload, serviceName: "reload"), .init(service: maintenance, serviceName: "maintenance"),
          .init(
            service: RESPService(
              configuration: configuration, passed: passed, mirrors: keeper.mirrors, startup: startup, log: log),
            serviceName: "resp"),
          .init(
            service: MonitoringService(
              configuration: configuration.monitoring, passed: passed, keeper: keeper, startup: startup, log: log),
            serviceName: "monitoring"),
          // The last, so that no READY follows a stop.
          .init(
            service: ReadyService(startup: startup, keeper: keeper, status: status, log: log), serviceName: "readiness"),
        ], logger: log))
  }

  // MARK: - Complaints before there is a service

  private func complain(_ refusal: Refusal) -> ExitStatus {
    for problem in refusal.problems { Self.complain("\(problem)") }
    return .badConfiguration
  }

  private func complain(_ failure: InstanceLock.Failure) -> ExitStatus {
    let path = InstanceLock.path(in: runtimeDirectory)
    switch failure {
    case .held(let pid):
      let who = pid.map { " (pid \($0))" } ?? ""
      Self.complain("\(path): another shmd runs already\(who); stop it first, or give --runtime-directory")
      return .temporary
    case .system(let error):
      Self.complain("\(path): cannot be locked: \(error); make the directory, or give --runtime-directory")
      return .failure
    }
  }

  /// Bare on a terminal, so that the line begins with the file's name; with its priority in the journal.
  private static func complain(_ line: String) {
    let start = ServiceLog.leadsToJournal ? "<3>" : ""
    WholeWrite.write("\(start)\(line)\n".utf8, to: STDERR_FILENO, waits: false)
  }
}

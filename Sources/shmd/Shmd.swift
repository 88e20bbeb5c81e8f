import ArgumentParser
import ShmdCore

@main
struct Shmd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shmd",
    abstract: "Keeps the tables of this host: creates, expires, reclaims, recovers after dead writers.",
    discussion: """
      Runs in the foreground until SIGTERM or SIGINT and leaves the tables in place. SIGHUP reloads the configuration.

      Exit status: 0 stopped or checked, 1 failure, also if a durable table could not be stored at the end, 64 usage, 75 already running or users \
      cannot be looked up, 78 configuration refused.
      """,
    version: shmdVersion)

  @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
  var config = "/etc/shmd.yaml"

  @Flag(help: "Check the configuration, also against the tables that live and the room they have, and change nothing.")
  var check = false

  @Option(
    help: ArgumentHelp(
      "As whom --check judges rights and trust, if root runs it: the unit's user. (default: \(Daemon.serviceUser))",
      valueName: "user"))
  var user: String?

  @Flag(help: "Check the configuration and have the daemon that runs read it.")
  var reload = false

  @Flag(help: "Print what the configuration and its drop-ins say together, with where each value comes from.")
  var printConfig = false

  @Option(
    help: ArgumentHelp(
      "Where the lock file lies that keeps a second daemon away. (default: $RUNTIME_DIRECTORY or /run/shmd)",
      valueName: "directory"))
  var runtimeDirectory: String?

  static func main() async {
    do {
      var command = try parseAsRoot()
      if let daemon = command as? Shmd { try await daemon.run() } else { try command.run() }
    } catch {
      // Help and version are errors to the parser, which would print them without a look whether that works.
      let text = fullMessage(for: error)
      if exitCode(for: error) == .success, !text.isEmpty {
        exit(withError: ExitCode(Daemon.print(text + "\n", "what was asked for").rawValue))
      }
      exit(withError: error)
    }
  }

  func validate() throws {
    if [check, reload, printConfig].count(where: \.self) > 1 {
      throw ValidationError("--check, --reload and --print-config exclude each other")
    }
    if user != nil, !check { throw ValidationError("--user goes with --check; without it the daemon is who starts it") }
  }

  func run() async throws {
    let daemon = Daemon(
      configurationFile: config, runtimeDirectory: runtimeDirectory ?? Daemon.defaultRuntimeDirectory)
    let status =
      if printConfig {
        daemon.printConfiguration()
      } else if check {
        daemon.check(as: user ?? Daemon.serviceUser)
      } else if reload {
        daemon.reload()
      } else {
        await daemon.run()
      }
    throw ExitCode(status.rawValue)
  }
}

import ArgumentParser
import Glibc

/// The command's root: what is common to all, and what they are.
///
/// Each says its name in words: the parser's own way to it, a type's description, took a third of a `shmctl get`.
struct Shmctl: ParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "shmctl",
    abstract: "Tables in shared memory: make them, look into them, change them.",
    discussion: """
      Works on the tables themselves, with or without a running shmd. Results go to standard output, complaints to \
      standard error. Options of all commands may stand before or after the command's name; '--' ends the options. Without \
      a command, on a terminal, 'shmctl shell' begins.

      ENVIRONMENT
        SHM_TABLE, SHM_TIMEOUT, SHM_TRUST  for -t, --timeout, --trust
        NO_COLOR                           screens without attributes
        VISUAL, EDITOR                     what 'edit' calls
        TMPDIR                             where 'edit', and 'load' from a pipe, put what they work on
        COLUMNS                            how wide the screen is where the terminal does not say
        SHMCTL_CONFIG, SHMCTL_HISTORY      other files than these, which lie below
        XDG_CONFIG_HOME, XDG_STATE_HOME    in place of ~/.config and ~/.local/state:

      FILES
        /etc/shmctl.conf               table = NAME; timeout, trust, color
        ~/.config/shmctl/config        the same, of one user
        ~/.local/state/shmctl/history  lines of the interactive mode

      EXIT STATUS
      \(ExitStatus.table)
      """,
    version: version,
    subcommands: [
      Create.self, Drop.self, Tables.self, Stat.self, UpstreamCommand.self, Clients.self, Log.self, Top.self, Plot.self,
      Bench.self,
      Doctor.self, Check.self, Repair.self,
      Get.self, Mget.self, Set.self, Mset.self, Del.self, Exists.self, Type.self, Ls.self, Count.self, Edit.self,
      Incr.self, Append.self, Cas.self, Getdel.self, Rename.self, TTL.self, Expire.self, Persist.self,
      Read.self, Barrier.self, Batch.self, TransactionCommand.self, Watch.self, Wait.self,
      Dump.self, Load.self, Copy.self, Resize.self, Diff.self, Import.self, Export.self,
      ShellCommand.self, CompleteCommand.self,
    ])

  /// Also of `help`, which the parser brings.
  static func has(command name: [UInt8]) -> Bool {
    let name = String(decoding: name, as: UTF8.self)
    return name == "help" || configuration.subcommands.contains { $0.configuration.commandName == name }
  }

  /// With `help`, which the parser brings, and without what only the shells' completions call.
  static var shownCommands: [String] {
    configuration.subcommands.compactMap { $0.configuration.shouldDisplay ? $0.configuration.commandName : nil }
      + ["help"]
  }

  @OptionGroup var options: CommonOptions

  func run() throws {
    // Whoever types only the name wants to look around; a script has forgotten something.
    guard isatty(0) == 1, isatty(1) == 1 else { throw ValidationError("Missing command") }
    try Shell.run(options)
  }
}

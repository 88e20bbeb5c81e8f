import ArgumentParser
import SharedTable
import ToolSupport

/// What every command takes besides the table's name.
struct GeneralOptions: ParsableArguments {
  @Option(
    name: .customLong("timeout"),
    help: ArgumentHelp(
      "How long a wait may last: 500ms, 30s or 30, 5m, 1h; else $SHM_TIMEOUT, else 'timeout' of the settings file, else 5s.",
      valueName: "time"))
  var givenTimeout: TimeSpan?

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  @Flag(name: .shortAndLong, help: "Say nothing about keys not found and conditions not met: exit 1 says it.")
  var quiet = false

  @Option(
    help: ArgumentHelp(
      """
      A user whose tables to use, besides root's, shmd's and your own; else those of $SHM_TRUST, with commas between, else 'trust' of the settings file. \
      'everyone': any user's tables, to look at and to drop.
      """, valueName: "user"))
  var trust: [RawArgument] = []

  /// The option's former name.
  @Option(help: .hidden)
  var trusting: [RawArgument] = []

  var timeout: TimeSpan {
    givenTimeout ?? CommonOptions.environment("SHM_TIMEOUT").flatMap { TimeSpan($0) } ?? settings.timeout
      ?? TimeSpan(milliseconds: 5000)
  }

  /// `validate` has seen that they can be read.
  var settings: Settings { (try? Settings.current()) ?? Settings() }

  func validate() throws {
    do { _ = try Settings.current() } catch let complaint as Complaint { throw ValidationError(complaint.message) }
    guard let text = CommonOptions.environment("SHM_TIMEOUT"), TimeSpan(text) == nil else { return }
    throw ValidationError("$SHM_TIMEOUT is '\(text.printable)', which is no time; use 500ms, 30s, 5m or 1h")
  }

  func open(_ name: String) throws -> Table {
    try Table.open(name, trusting: trustedOwners(), timeout: timeout.duration)
  }

  func trustedOwners() throws -> Table.TrustedOwners {
    let everyone = "everyone"
    let users = trustedUsers
    if users.contains(where: { $0.text == everyone }) {
      guard users.count == 1 else { throw Complaint.usage("give '--trust everyone' alone, or name users") }
      return .everyone
    }
    return .users(
      try users.map { user in
        guard let number = try Account.user(user.text) else {
          throw Complaint.usage("there is no user '\(user.shown)'; give a number, or see 'getent passwd'")
        }
        return number
      })
  }

  /// Users whom the command line names.
  var givenTrust: [RawArgument] { trust + trusting }

  private var trustedUsers: [RawArgument] {
    guard givenTrust.isEmpty else { return givenTrust }
    let users = CommonOptions.environment("SHM_TRUST").map(CommonOptions.users) ?? settings.trust ?? []
    return users.map { RawArgument(bytes: Array($0.utf8)) }
  }
}

import ArgumentParser
import Glibc
import SharedTable
import ToolSupport

/// What every command takes, before its name or after it.
struct CommonOptions: ParsableArguments {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The table; else $SHM_TABLE, else 'table' of the settings file, else 'default'.", valueName: "name"))
  var table: RawArgument?

  @Option(
    name: .customLong("timeout"),
    help: ArgumentHelp(
      "How long a wait may last: 500ms, 30s, 5m, 1h; else $SHM_TIMEOUT, else 'timeout' of the settings file, else 5s.",
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
    givenTimeout ?? Self.environment("SHM_TIMEOUT").flatMap { TimeSpan($0) } ?? settings.timeout
      ?? TimeSpan(milliseconds: 5000)
  }

  /// `validate` has seen that they can be read.
  private var settings: Settings { (try? Settings.current()) ?? Settings() }

  func validate() throws {
    do { _ = try Settings.current() } catch let complaint as Complaint { throw ValidationError(complaint.message) }
    guard let text = Self.environment("SHM_TIMEOUT"), TimeSpan(text) == nil else { return }
    throw ValidationError("$SHM_TIMEOUT is '\(text.printable)', which is no time; use 500ms, 30s, 5m or 1h")
  }

  var tableName: String { givenTableName ?? "default" }

  /// Nil if nobody named a table.
  private var givenTableName: String? { table?.text ?? Self.environment("SHM_TABLE") ?? settings.table }

  /// A variable's text; nil if it is not there, or empty.
  static func environment(_ variable: String) -> String? {
    guard let value = unsafe getenv(variable), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }

  /// The table that a command is about as a whole: by position or by -t, and never one that was not named.
  func object(_ name: RawArgument?) throws -> String {
    switch (name, table) {
    case (let name?, nil): return name.text
    case (nil, let table?): return table.text
    case (_?, _?): throw Complaint.usage("the table is named twice; give it once, as the argument or by -t")
    case (nil, nil): throw Complaint.usage("which table? give its name; 'shmctl tables' lists them")
    }
  }

  /// Opens the table, as a participant where that is possible.
  func open() throws -> Table {
    do { return try open(tableName) } catch let error as TableError where error.code == .noSuchTable {
      guard givenTableName == nil else { throw error }
      // Whoever gave the table's name before the key has named no table.
      throw TableError(
        .noSuchTable, table: tableName,
        "no such table, and no other was named; name one with -t, or create it with 'shmctl create \(tableName)'")
    }
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

  private var trustedUsers: [RawArgument] {
    let given = trust + trusting
    guard given.isEmpty else { return given }
    let users = Self.environment("SHM_TRUST").map(Self.users) ?? settings.trust ?? []
    return users.map { RawArgument(bytes: Array($0.utf8)) }
  }

  /// Users in one text, with commas or spaces between.
  static func users(_ text: String) -> [String] {
    text.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// For commands on several tables or on all of them, and those that take the table's name as an argument.
  func refuseTable(for command: String) throws {
    if table != nil { throw ValidationError("'\(command)' takes no -t; 'shmctl \(command) --help' says what it takes") }
  }

  /// What to do about a key that is not there.
  func suggestion(for key: [UInt8], in table: Table) -> String {
    Suggestion.keys(like: key, in: table, option: self.table == nil ? "" : " -t \(table.name)")
  }

  /// Says that a condition was not met, unless told to be quiet.
  func note(_ table: Table, _ message: String) {
    if !quiet { StandardError.write("table '\(table.name)': \(message)") }
  }
}

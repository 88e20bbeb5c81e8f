import ArgumentParser
import Glibc
import SharedTable
import ToolSupport

/// What every command takes, before its name or after it.
struct CommonOptions: ParsableArguments, GeneralOptionsHolder {
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "The table; else $SHM_TABLE, else 'table' of the settings file, else 'default'.", valueName: "name"))
  var table: RawArgument?

  @OptionGroup var general: GeneralOptions

  var tableName: String { givenTableName ?? "default" }

  /// Nil if nobody named a table.
  private var givenTableName: String? { table?.text ?? Self.environment("SHM_TABLE") ?? general.settings.table }

  /// A variable's text; nil if it is not there, or empty.
  static func environment(_ variable: String) -> String? {
    guard let value = unsafe getenv(variable), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
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

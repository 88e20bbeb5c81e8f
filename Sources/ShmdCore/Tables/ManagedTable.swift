import Logging
import SharedTable

/// One table in the daemon's care, and where its care stands.
struct ManagedTable {
  var configuration: TableConfiguration
  var table: Table
  var sweep = Table.ExpirySweep()
  /// The table's count of repairs when it was last looked at.
  var recoveries: UInt64
  /// The table's version when its last turn was over: if it is the same at the next, nobody wrote.
  var version: UInt64?
  /// There was nothing more to back by huge pages, or the kernel refused: what the table had claimed then, and until when that
  /// holds.
  var hugePagesRest: (claimedBytes: Int, end: UInt64)?
  /// What went wrong in the last turn: said once, and once more when it is over.
  var trouble: Trouble?
  /// It was said that the table's name is gone.
  var isLossTold = false
  /// What the file asks of it and no living table can become.
  var refusedChanges: [Problem]

  init(_ configuration: TableConfiguration, _ table: Table, refused: [Problem] = []) {
    self.configuration = configuration
    refusedChanges = refused
    self.table = table
    recoveries = table.administration.recoveryCount ?? 0
  }

  var name: String { configuration.name }

  /// Brings what can change online to what the file says.
  mutating func adjust(to wanted: TableConfiguration, _ log: Logger) throws(TableError) {
    configuration = wanted
    let limits = try table.administration.limits()
    if limits != wanted.options.limits {
      try table.administration.setLimits(wanted.options.limits)
      log.notice(
        "table limits changed",
        metadata: [
          "table": "\(name)", "limbo-budget": "\(Scalars.describe(wanted.options.limboBudgetBytes))",
          "stalled-reader": "\(wanted.options.stalledReaderPolicy)",
        ])
    }
    let rights = try table.administration.rights()
    let wantedRights = wanted.options.rights(insteadOf: rights)
    if rights != wantedRights {
      try table.administration.setRights(wantedRights)
      log.notice(
        "table rights changed",
        metadata: [
          "table": "\(name)", "mode": "0\(String(wantedRights.mode, radix: 8))", "owner": "\(wantedRights.owner)",
          "group": "\(wantedRights.group)",
        ])
    }
  }
}

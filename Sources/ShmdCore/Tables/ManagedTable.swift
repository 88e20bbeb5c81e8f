import Logging
import SharedTable
import TableEngine

/// One table in the daemon's care, and where its care stands.
struct ManagedTable {
  var configuration: TableConfiguration
  var table: Table
  var sweep = Table.ExpirySweep()
  /// The table's count of recoveries when it was last looked at.
  var recoveries: UInt64
  /// The table's version when its last round was over: if it is the same at the next, nobody wrote.
  var version: UInt64?
  /// There was nothing more to back by huge pages, or the kernel refused: what the table had claimed then, and until when that
  /// holds.
  var hugePagesRest: (claimedBytes: Int, end: UInt64)?
  /// What went wrong in the last round: said once, and once more when it is over.
  var trouble: Trouble?
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
    let wantedLimits = wanted.limits(ofCapacity: table.capacityBytes)
    if limits != wantedLimits {
      try table.administration.setLimits(wantedLimits)
      log.notice(
        "table limits changed",
        metadata: [
          "table": "\(name)", "limbo-budget": "\(Scalars.describe(wantedLimits.limboBudgetBytes))",
          "stalled-reader": "\(wantedLimits.stalledReaderPolicy)",
        ])
    }
    let rights = try table.administration.rights()
    let wantedRights = wanted.options.rights(insteadOf: rights)
    // A plan says so where they cannot be.
    if rights != wantedRights, rights.canBeChanged {
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

extension TableConfiguration {
  /// The limits that a table of this capacity is to have. The file may ask for another capacity, which no living table can take: then the
  /// budget that follows from the file's capacity would be more than the table has, or too little for it.
  func limits(ofCapacity capacity: Int) -> Table.Limits {
    var limits = options.limits
    let unit = Geometry.unitBytes
    if (options.capacityBytes + unit - 1) / unit * unit == capacity { return limits }
    limits.limboBudgetBytes =
      lines[.limboBudget] == nil
      ? Table.Options(capacityBytes: capacity).limboBudgetBytes : min(limits.limboBudgetBytes, capacity)
    return limits
  }
}

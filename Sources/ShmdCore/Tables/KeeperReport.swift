/// How the tables in care stand, for the service manager's status line.
public struct KeeperReport: Sendable, Equatable {
  public let tableCount: Int
  /// Tables that cannot be had, are in trouble, or are not as the file says; each with why.
  public let troubles: [String]

  var status: String {
    let tables = "\(tableCount) \(tableCount == 1 ? "table" : "tables")"
    guard let first = troubles.first else { return tables }
    let more = troubles.count > 1 ? " (and \(troubles.count - 1) more)" : ""
    return "\(tables); \(first)\(more)"
  }
}

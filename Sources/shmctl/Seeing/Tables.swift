import ArgumentParser
import SharedTable
import TableMetrics
import ToolSupport

struct Tables: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tables", abstract: "List the tables of this host.",
    discussion: """
      A name a line. Behind a name that is no table for you stands a tab, and why: foreign (of a user whom you do not \
      trust, see --trust), orphaned (only one of a table's two objects is left), no table, incompatible, damaged, \
      closed (no right).

      --long adds owner, mode, variant, keys, how much of the capacity is in use, the capacity, whether the table is \
      damaged, and whether shmd looks after it. '≤' stands where you may only observe and see what was claimed.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(name: .shortAndLong, help: "Say more of each table.")
  var long = false

  func validate() throws { try options.refuseTable(for: "tables") }

  func run() throws {
    let listings = try TableListing.all(trusting: options.trustedOwners())
    if options.json {
      try StandardOutput.write(listings.flatMap { description(of: $0).line })
    } else if long {
      try StandardOutput.write(Array(table(listings).utf8))
    } else {
      let lines = listings.map { $0.name + ($0.flaw.map { "\t\($0)" } ?? "") }
      try StandardOutput.write(Array(lines.map { Self.printable($0) + "\n" }.joined().utf8))
    }
  }

  /// Escapes all but the tab between name and flaw.
  private static func printable(_ line: String) -> String {
    line.split(separator: "\t", maxSplits: 1).map { StandardError.printable(String($0)) }.joined(separator: "\t")
  }

  private func table(_ listings: [TableListing]) -> String {
    var columns = Columns([
      ("TABLE", .left), ("OWNER", .left), ("MODE", .left), ("VARIANT", .left), ("KEYS", .right), ("FILL", .right),
      ("CAPACITY", .right), ("DAMAGED", .left), ("SHMD", .left), ("", .left),
    ])
    for listing in listings {
      let owner = listing.object.map { Phrase.user($0.owner) } ?? "?"
      let mode = listing.object.map { Phrase.mode($0.status.mode) } ?? "?"
      guard case .table(let table) = listing.condition else {
        columns.add([listing.name, owner, mode, "-", "-", "-", "-", "-", "-", listing.flaw ?? ""])
        continue
      }
      let figures = TableFigures(table)
      columns.add([
        listing.name, owner, mode, "\(table.variant)", "\(figures.statistics.keyCount)", figures.fill,
        Phrase.size(table.capacityBytes), table.isObserver ? "?" : figures.statistics.isDamaged ? "yes" : "no",
        table.isObserver ? "?" : figures.isKept ? "yes" : "no", "",
      ])
    }
    return columns.isEmpty ? "" : columns.text
  }

  private func description(of listing: TableListing) -> JSONObject {
    var object = JSONObject()
    object.add("table", listing.name)
    object.add("state", listing.state)
    if let flaw = listing.flaw { object.add("reason", flaw) }
    if case .foreign(let owner) = listing.condition {
      object.add(foreignOwner: owner)
    } else if let owner = listing.object?.owner {
      object.add("owner", owner.id)
      if let name = owner.name { object.add("ownerName", name) }
    }
    if let named = listing.object { object.add("mode", Phrase.mode(named.status.mode)) }
    guard long, case .table(let table) = listing.condition else { return object }
    let figures = TableFigures(table)
    object.add("variant", "\(table.variant)")
    object.add("access", table.isObserver ? "observer" : "participant")
    object.add("keys", figures.statistics.keyCount)
    object.add("capacityBytes", table.capacityBytes)
    object.add("claimedBytes", figures.statistics.claimedBytes)
    guard !table.isObserver else { return object }
    if let used = figures.statistics.usedBytes { object.add("usedBytes", used) }
    object.add("damaged", figures.statistics.isDamaged)
    object.add("keptByDaemon", figures.isKept)
    return object
  }
}

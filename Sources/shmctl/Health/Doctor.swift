import ArgumentParser
import SharedTable
import ToolSupport

struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Look for what is wrong with tables and host, and say what helps.",
    discussion: """
      Of each finding a line what, and a line with the command that helps. Looks at: names that strangers have taken, \
      halves of tables that the dead left, copies that a killed 'resize' left, tables of other releases, damage, dead writers, barriers that run for more \
      than ten seconds, stopped processes, readers that keep old values, nearly full tables; logind's RemoveIPC, room in \
      /dev/shm, membarrier, limits on address space and descriptors, hidden processes, a failed shmd. With a table's name \
      only at that table.

      --fix does what is safe: halves of tables of users whom you trust are removed, dead writers' work is put right. \
      Exit 0 if nothing is left to be done, 9 if something is. Reads no values; 'shmctl check' does that.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Put right what can be put right without risk.")
  var fix = false

  @Argument(help: "Only this table.")
  var name: RawArgument?

  func validate() throws { try options.refuseTable(for: "doctor") }

  func run() throws {
    let trusted = try options.trustedOwners()
    let listings: [TableListing]
    if let name {
      let listing = try TableListing(name.text, trusting: trusted)
      guard listing.object != nil else {
        throw Complaint(.noSuchTable, table: name.text, "no such table; 'shmctl tables' lists them")
      }
      try refuse(listing)
      listings = [listing]
    } else {
      listings = try TableListing.all(trusting: trusted)
    }
    var findings = listings.flatMap { TableHealth(listing: $0, trusted: trusted).findings() }
    if name == nil { findings += try HostHealth(listings: listings).findings() }
    if fix { for index in findings.indices { try mend(&findings[index]) } }
    try write(findings, tables: listings.count(where: \.canBeLookedInto))
    let left = findings.count { !$0.isFixed }
    if left > 0 { throw Complaint(.damaged, "findings: \(left); each one's cure stands below it") }
  }

  /// Nothing can be said of one that this user may not take part in.
  private func refuse(_ listing: TableListing) throws(Complaint) {
    guard !listing.canBeLookedInto else { return }
    if case .closed(let what) = listing.condition { throw Complaint(.notPermitted, table: listing.name, what) }
    throw Complaint(
      .notPermitted, table: listing.name,
      "observers cannot see what is wrong with it; run it as root or its owner, with '--trust OWNER' if that is another "
        + "user")
  }

  /// What cannot be fixed stays a finding.
  private func mend(_ finding: inout Finding) throws {
    guard !finding.isFixed, let fix = finding.fix else { return }
    do { finding.isFixed = try fix() } catch let error as TableError {
      StandardError.write("cannot fix: \(error)")
    }
  }

  private func write(_ findings: [Finding], tables: Int) throws {
    if options.json { return try StandardOutput.write(findings.flatMap { $0.json.line }) }
    try StandardOutput.write(Array(findings.map(\.text).joined().utf8))
    if findings.isEmpty, !options.quiet { try StandardOutput.write(line: "nothing found; tables looked at: \(tables)") }
  }
}

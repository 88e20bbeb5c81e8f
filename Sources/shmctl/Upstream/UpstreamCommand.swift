import ArgumentParser
import SharedTable
import ToolSupport

struct UpstreamCommand: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upstream",
    abstract: "Say how far a mirror of another store is, and whether it is what that store is.",
    discussion: """
      shmd mirrors a part of an etcd into a table that has an 'upstream' in its configuration. 'status' says whether changes come \
      (following), that store cannot be reached just now (away), or they do not come before somebody does something (stopped); which \
      revision the table is; and how old it may be. The table itself says so: shmd need not run. Exits with 1 unless it follows.

      'diff' says in which keys the table differs from what etcd was at the table's revision, as 'shmctl diff TABLE ETCD' would: '-' \
      only the table has the key, '+' only etcd, '~' another value. Exits with 1 if there is a difference. It asks the host's \
      etcdctl, whose variables say how: ETCDCTL_ENDPOINTS (else the mirror's own), ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY, \
      ETCDCTL_USER. If etcd has compacted that revision it waits until the table is known to be as new as etcd, --timeout at most.
      """)

  @OptionGroup var options: CommonOptions

  enum Action: String, ExpressibleByArgument, CaseIterable {
    case status, diff
  }

  @Argument(help: "status, or diff")
  var action: Action

  func run(on table: Table) throws {
    guard table.isMirror else {
      throw Complaint.usage(
        "table '\(table.name)' is no mirror; give it an 'upstream' in shmd's configuration, and make it anew")
    }
    switch action {
    case .status: try tellStatus(of: table)
    case .diff: try UpstreamDiff(table, options).run()
    }
  }

  private func tellStatus(of table: Table) throws {
    let report = UpstreamReport(try table.upstream.status())
    if options.json {
      var object = JSONObject()
      object.add("table", table.name)
      report.add(to: &object)
      try StandardOutput.write(object.line)
    } else {
      try StandardOutput.write(Array(report.lines.map { StandardError.printable($0) + "\n" }.joined().utf8))
    }
    if report.status?.state != .following { throw ExitStatus.notFound }
  }
}

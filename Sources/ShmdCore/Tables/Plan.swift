import SharedTable
import TableEngine

/// What a configuration asks of the host, found out before anything is changed.
///
/// Every reason to refuse that can be seen beforehand is a problem with a line; so a refused configuration has
/// changed nothing.
struct Plan {
  /// One configured table, and what is there now.
  enum Step {
    case create(TableConfiguration)
    /// It runs; settings that can change online may differ.
    case keep(TableConfiguration, Table)
    /// Its name is a stranger's. No reason to refuse the rest: anybody could stop the daemon by that.
    case wait(TableConfiguration, TableError)

    var configuration: TableConfiguration {
      switch self {
      case .create(let configuration), .keep(let configuration, _), .wait(let configuration, _): configuration
      }
    }
  }

  let configuration: Configuration
  private(set) var steps: [Step] = []
  private(set) var problems: [Problem] = []

  /// Looks at every table of the configuration.
  /// - Parameter access: a daemon takes part; `--check` only observes, and leaves what it may not read to the daemon.
  init(_ configuration: Configuration, access: Table.Access) {
    self.configuration = configuration
    for table in configuration.tables {
      switch Self.find(table, access) {
      case .success(let found?):
        steps.append(.keep(table, found))
        compare(table, with: found)
      case .success(nil):
        steps.append(.create(table))
        checkAccounts(table, owner: Accounts.effectiveUser, group: nil)
      case .failure(let error) where error.code == .foreign:
        steps.append(.wait(table, error))
      case .failure(let error):
        if access == .observer, error.code == .notPermitted { continue }
        complain(table, .name, Self.advice(error))
      }
    }
  }

  /// The running table of a configuration, nil if there is none.
  private static func find(
    _ table: TableConfiguration, _ access: Table.Access
  ) -> Result<Table?, TableError> {
    do throws(TableError) {
      return .success(
        try Table.open(
          table.name, access: access, trusting: .users(table.options.owner.map { [$0] } ?? []), timeout: .seconds(1)))
    } catch {
      return error.code == .noSuchTable ? .success(nil) : .failure(error)
    }
  }

  private static func advice(_ error: TableError) -> String {
    switch error.code {
    case .notPermitted: "exists, and this daemon may not take part: \(error.message); drop it, or choose another name"
    case .notATable, .damaged, .incompatible: "exists, and cannot be used: \(error.message)"
    default: error.message
    }
  }

  private mutating func complain(_ table: TableConfiguration, _ key: TableKeyword, _ message: String) {
    problems.append(problem(table, key, message))
  }

  private func problem(_ table: TableConfiguration, _ key: TableKeyword, _ message: String) -> Problem {
    Problem(file: configuration.file, line: table.line(key), "table '\(table.name)': \(message)")
  }

  /// Names that strangers have: worth a word, no reason to refuse the configuration.
  var warnings: [Problem] {
    steps.compactMap { step in
      guard case .wait(let table, let error) = step else { return nil }
      return problem(table, .name, "warning: \(error.message)")
    }
  }

  // MARK: - Running tables

  /// A running table is never silently another than the file says.
  private mutating func compare(_ table: TableConfiguration, with found: Table) {
    if found.variant != table.options.variant {
      complain(
        table, .variant,
        "runs as \(found.variant), not \(table.options.variant), and that cannot change while it lives; "
          + "set it back, or drop the table first")
    }
    let unit = Geometry.unitBytes
    let wanted = (table.options.capacityBytes + unit - 1) / unit * unit
    if found.capacityBytes != wanted {
      complain(
        table, .capacity,
        "runs with a capacity of \(Scalars.describe(found.capacityBytes)), not \(Scalars.describe(wanted)), "
          + "and that cannot change while it lives; set it back, or drop the table first")
    }
    guard !found.isObserver, let rights = try? found.administration.rights() else { return }
    checkAccounts(table, owner: rights.owner, group: rights.group)
    if rights != table.options.rights(insteadOf: rights), !Accounts.isRoot, rights.owner != Accounts.effectiveUser {
      complain(
        table, .mode,
        "belongs to user \(rights.owner), so its rights cannot be changed; set them as they are, or run as root")
    }
  }

  /// Who may be given what: the kernel's rules for chown(2), asked beforehand.
  private mutating func checkAccounts(_ table: TableConfiguration, owner: UInt32, group: UInt32?) {
    if let wanted = table.options.owner, wanted != owner, !Accounts.isRoot {
      complain(table, .owner, "only root may give a table to user \(wanted); remove the key, or run as root")
    }
    if let wanted = table.options.group, wanted != group, !Accounts.isMember(of: wanted) {
      complain(
        table, .group, "this daemon is no member of group \(wanted), so it cannot give it a table; make it one")
    }
  }
}

extension SegmentOptions {
  /// The rights that these options ask for, where a table has others.
  func rights(insteadOf current: Table.Rights) -> Table.Rights {
    Table.Rights(mode: mode, owner: owner ?? current.owner, group: group ?? current.group)
  }

  var limits: Table.Limits {
    Table.Limits(limboBudgetBytes: limboBudgetBytes, stalledReaderPolicy: stalledReaderPolicy)
  }
}

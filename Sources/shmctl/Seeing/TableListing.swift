import Glibc
import SharedTable
import TableMetrics
import ToolSupport

/// What lies under one name: a table, or what is none, and why.
struct TableListing {
  enum Condition {
    case table(Table)
    /// Of a user who is not trusted.
    case foreign(Table.Owner)
    /// Only one of the two objects is there.
    case orphaned(String)
    /// A table that its creator left half-made, or no table at all.
    case noTable(String)
    case incompatible(String)
    case damaged(String)
    case closed(String)
  }

  let name: String
  let data: Table.NamedObject?
  let control: Table.NamedObject?
  let condition: Condition

  /// Waits for nobody: a table that is being made just now is no table yet.
  init(_ name: String, trusting trusted: Table.TrustedOwners) throws(TableError) {
    self.name = name
    (data, control) = try Table.objects(of: name)
    if let owner = try Table.foreignOwner(of: name, trusting: trusted) {
      condition = .foreign(owner)
    } else if control == nil {
      condition = .orphaned("only the data object is there")
    } else if data == nil {
      condition = .orphaned("only the control object is there")
    } else {
      condition = Self.open(name, trusted)
    }
  }

  private static func open(_ name: String, _ trusted: Table.TrustedOwners) -> Condition {
    do {
      return .table(try Table.open(name, trusting: trusted, timeout: .zero))
    } catch {
      switch error.code {
      case .notATable, .noSuchTable, .timedOut: return .noTable(error.message)
      case .incompatible: return .incompatible(error.message)
      case .damaged: return .damaged(error.message)
      case .foreign: return error.owner.map { .foreign($0) } ?? .closed(error.message)
      default: return .closed(error.message)
      }
    }
  }

  static func all(trusting trusted: Table.TrustedOwners) throws(TableError) -> [TableListing] {
    var listings: [TableListing] = []
    // What is gone again since the names were listed is not listed.
    for name in try Table.names() {
      let listing = try TableListing(name, trusting: trusted)
      if listing.object != nil { listings.append(listing) }
    }
    return listings
  }

  /// The one that says whose it is and who may use it.
  var object: Table.NamedObject? { data ?? control }

  /// Why it is no table to be used; nil if it is one. Begins with the word that `--json` calls the state.
  var flaw: String? {
    switch condition {
    case .table: nil
    case .foreign(let owner): "foreign: \(owner)"
    case .orphaned(let what): "orphaned: \(what)"
    case .noTable(let what): "no table: \(what)"
    // Some of these messages begin with that word.
    case .incompatible(let what): what.hasPrefix("incompatible: ") ? what : "incompatible: \(what)"
    case .damaged(let what): what.hasPrefix("damaged: ") ? what : "damaged: \(what)"
    case .closed(let what): "closed: \(what)"
    }
  }

  /// Whether more can be said of it than that it is there: of a table that one may only observe, or may not open, nothing can.
  var canBeLookedInto: Bool {
    switch condition {
    case .table(let table): !table.isObserver
    // One's own is a finding.
    case .closed: object?.owner.id == geteuid()
    default: true
    }
  }

  /// For `--json`.
  var state: String {
    switch condition {
    case .table: "table"
    case .foreign: "foreign"
    case .orphaned: "orphaned"
    case .noTable: "noTable"
    case .incompatible: "incompatible"
    case .damaged: "damaged"
    case .closed: "closed"
    }
  }
}

extension TableFigures {
  /// Whether the daemon looks after the table: a process of that name has a slot in it.
  var isKept: Bool { statistics.readers.contains { Self.isDaemon($0.holder) } }

  private static func isDaemon(_ holder: Table.Holder) -> Bool {
    (ProcessStatus(holder.pid)?.command ?? holder.command) == "shmd"
  }

  /// Of the capacity: what is in use, or for an observer what was claimed, which is at least that.
  var fill: String {
    let statistics = statistics
    guard let used = statistics.usedBytes else {
      return "≤" + Phrase.percent(statistics.claimedBytes, of: statistics.capacityBytes)
    }
    return Phrase.percent(used, of: statistics.capacityBytes)
  }
}

import SharedMemory
import SharedTable

/// Why a configured table cannot be had, or looked after, just now; with the cure.
struct Trouble: Equatable {
  let code: TableError.Code
  let message: String

  init(_ code: TableError.Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// - Parameters:
  ///   - isDurable: the table has a store, from which the daemon makes it anew.
  ///   - owner: whom the table belongs to, if the file says that.
  init(_ error: TableError, isDurable: Bool, owner: UInt32? = nil) {
    self.init(error.code, Self.message(error, isDurable, Self.trust(owner)))
  }

  /// The option without which `shmctl` takes a table of this user for a stranger's, with a space before it.
  static func trust(_ owner: UInt32?) -> String {
    guard let owner, ![0, Accounts.effectiveUser, DaemonUser.id].contains(owner) else { return "" }
    return " --trust \(owner)"
  }

  private static func message(_ error: TableError, _ isDurable: Bool, _ trust: String) -> String {
    let drop = "'shmctl drop\(trust) \(error.table)'"
    return switch error.code {
    case .exists where UnfinishedTable.lies(under: error.table):
      "another process makes it just now; once it is made, the daemon looks after it"
    case .exists:
      "a control object without its data object lies under the name, so it was half removed; remove it with \(drop)"
    case .notPermitted:
      "exists, and this daemon may not take part: \(error.message); remove it with \(drop) as its owner, or choose "
        + "another name"
    case .damaged:
      // It could not be opened: a repair could not open it either.
      "exists, and cannot be used: \(error.message); remove it with \(drop)"
        + (isDurable ? ": it comes back from its store" : "")
    case .notATable, .incompatible:
      "exists, and cannot be used: \(error.message); dump it with the release that made it if it is to be kept, and remove it with \(drop)"
        + (isDurable ? ": it comes back from its store" : "")
    default: error.message
    }
  }

  /// What the journal's line begins with.
  var headline: String {
    code == .foreign ? "table's name is a stranger's, waiting for it" : "table cannot be had, tried again in each round"
  }
}

extension TableConfiguration {
  /// What such an error of this table means.
  func trouble(_ error: TableError) -> Trouble {
    Trouble(error, isDurable: durability.mode != nil, owner: options.owner)
  }
}

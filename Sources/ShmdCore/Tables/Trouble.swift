import SharedTable

/// Why a configured table cannot be had, or looked after, just now; with the cure.
struct Trouble: Equatable {
  let code: TableError.Code
  let message: String

  init(_ code: TableError.Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// - Parameter isDurable: the table has a store, from which the daemon makes it anew.
  init(_ error: TableError, isDurable: Bool) {
    self.init(error.code, Self.message(error, isDurable))
  }

  private static func message(_ error: TableError, _ isDurable: Bool) -> String {
    let drop = "'shmctl drop \(error.table)'"
    return switch error.code {
    case .exists:
      "a control object without its data object lies under the name, so it was half removed; remove it with \(drop)"
    case .notPermitted:
      "exists, and this daemon may not take part: \(error.message); remove it with \(drop) as its owner, or choose "
        + "another name"
    case .damaged where isDurable:
      "exists, and cannot be used: \(error.message); remove it with \(drop): it comes back from its store, from which 'shmctl repair' "
        + "would remove what it gives up"
    case .damaged:
      "exists, and cannot be used: \(error.message); try 'shmctl repair \(error.table)', or remove it with \(drop)"
    case .notATable, .incompatible:
      "exists, and cannot be used: \(error.message); dump it with the release that made it if it is to be kept, and remove it with \(drop)"
        + (isDurable ? ": it comes back from its store" : "")
    default: error.message
    }
  }

  /// What the journal's line begins with.
  var headline: String {
    code == .foreign ? "table's name is a stranger's, waiting for it" : "table cannot be had, tried again each turn"
  }
}

extension TableConfiguration {
  /// What such an error of this table means.
  func trouble(_ error: TableError) -> Trouble { Trouble(error, isDurable: durability.mode != nil) }
}

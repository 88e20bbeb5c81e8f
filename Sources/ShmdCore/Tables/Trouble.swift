import SharedTable

/// Why a configured table cannot be had, or looked after, just now; with the cure.
struct Trouble: Equatable {
  let code: TableError.Code
  let message: String

  init(_ code: TableError.Code, _ message: String) {
    self.code = code
    self.message = message
  }

  init(_ error: TableError) {
    self.init(error.code, Self.message(error))
  }

  private static func message(_ error: TableError) -> String {
    let drop = "'shmctl drop \(error.table)'"
    return switch error.code {
    case .exists:
      "a control object without its data object lies under the name, so it was half removed; remove it with \(drop)"
    case .notPermitted:
      "exists, and this daemon may not take part: \(error.message); remove it with \(drop) as its owner, or choose "
        + "another name"
    case .damaged:
      "exists, and cannot be used: \(error.message); try 'shmctl repair \(error.table)', or remove it with \(drop)"
    case .notATable, .incompatible: "exists, and cannot be used: \(error.message); remove it with \(drop)"
    default: error.message
    }
  }

  /// What the journal's line begins with.
  var headline: String {
    code == .foreign ? "table's name is a stranger's, waiting for it" : "table cannot be had, tried again each turn"
  }
}

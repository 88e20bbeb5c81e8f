import Glibc
import SharedMemory

/// What went wrong with a write, in the words of the table.
extension UpstreamCall {
  func away(_ why: String) -> TableError {
    TableError(.upstreamAway, table: table.name, "\(why); nothing was written")
  }

  /// No connection could be made.
  func refused(_ path: String, _ error: SystemError) -> TableError {
    switch error.errno {
    case EACCES, EPERM:
      TableError(
        .notPermitted, table: table.name,
        "this user may not connect to shmd's socket \(path) (\(error)); nothing was written, ask for the right: 'resp: mode'",
        errno: error.errno)
    case ETIMEDOUT: late(error)
    default:
      TableError(
        .upstreamAway, table: table.name,
        "shmd cannot be reached at \(path) (\(error)); nothing was written, see whether it runs", errno: error.errno)
    }
  }

  /// A connection ended, or what came by it is no answer.
  func lost(_ loss: UpstreamConnection.Loss, mayBeWritten: Bool) -> TableError {
    if mayBeWritten {
      return TableError(
        .upstreamUnsure, table: table.name,
        "shmd's answer was lost (\(loss)); the other store may have made the write, or may yet: look before you try again"
      )
    }
    if case .system(let error) = loss, error.errno == ETIMEDOUT { return late(error) }
    return TableError(
      .upstreamAway, table: table.name,
      "the connection to shmd was lost (\(loss)); nothing was written, see whether shmd runs, and try again")
  }

  private func late(_ error: SystemError) -> TableError {
    TableError(
      .timedOut, table: table.name, "shmd had no time for the write (\(error)); nothing was written, try again",
      errno: error.errno)
  }

  /// An answer that does not fit the command.
  var unexpected: TableError { lost(.malformed, mayBeWritten: true) }
}

extension TableError {
  /// What an error that shmd answered means. Its first word says what is so of the write, and what follows is for people.
  init(answer text: String, table: String, mayBeWritten: Bool) {
    let parts = text.split(separator: " ", maxSplits: 1)
    let rest = Self.shown(parts.count > 1 ? parts[1] : "", table)
    switch parts.first ?? "" {
    case "MIRRORAWAY": self.init(.upstreamAway, table: table, rest)
    case "MIRRORBUSY", "BUSY": self.init(.timedOut, table: table, rest)
    case "MIRRORUNSURE": self.init(.upstreamUnsure, table: table, rest)
    case "MIRRORLATE": self.init(.upstreamLate, table: table, rest)
    case "NOPERM": self.init(.notPermitted, table: table, rest)
    case "ERR" where rest == "value is not an integer or out of range":
      self.init(.typeMismatch, table: table, "the value is no whole number of 64 bits; nothing was written")
    case "ERR" where rest == "increment or decrement would overflow":
      self.init(.invalid, table: table, "the sum does not fit into 64 bits; nothing was written")
    case "ERR", "EXECABORT", "OOM", "WRONGTYPE", "NOAUTH": self.init(.upstreamRefused, table: table, rest)
    default:
      self.init(
        mayBeWritten ? .upstreamUnsure : .upstreamRefused, table: table,
        "shmd answered '\(Self.shown(text[...], table))'"
          + (mayBeWritten ? "; the other store may have made the write: look before you try again" : ""))
    }
  }

  /// On one line, without the table's name, which every error of a table begins with.
  private static func shown(_ text: Substring, _ table: String) -> String {
    let start = "table '\(table)': "
    return String(text.hasPrefix(start) ? text.dropFirst(start.count) : text).printable
  }
}

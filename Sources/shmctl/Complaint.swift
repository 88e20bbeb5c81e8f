/// A failure that is no table's own: what happened and what to do, in one line.
struct Complaint: Error {
  let status: ExitStatus
  let message: String

  init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  init(_ status: ExitStatus, table: String, _ message: String) {
    self.init(status, "table '\(table)': \(message)")
  }

  static func usage(_ message: String) -> Complaint { Complaint(.usage, message) }
}

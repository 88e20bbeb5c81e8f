import SharedTable

/// What the command ends with. Scripts depend on the numbers: they never change their meaning.
enum ExitStatus: Int32, Error, CaseIterable {
  case success = 0
  case notFound = 1
  case usage = 2
  case noSuchTable = 3
  case notPermitted = 4
  case full = 5
  case tooLarge = 6
  case timedOut = 7
  case incompatible = 8
  case damaged = 9
  case wrongType = 10
  case failure = 11
  case foreign = 12
  /// Nobody reads our output any more: what the shell reports of a process that SIGPIPE ended.
  case brokenPipe = 141

  /// For the help and the documentation.
  var meaning: String {
    switch self {
    case .success: "done"
    case .notFound: "key not found, or a condition not met (create: the table exists already)"
    case .usage: "usage: unknown option, missing argument, name or value that cannot be"
    case .noSuchTable: "no such table"
    case .notPermitted: "no permission"
    case .full: "full: the table's capacity, its readers, or /dev/shm"
    case .tooLarge: "key or value too large for the table"
    case .timedOut: "timed out, or no quiet moment to read in: try again"
    case .incompatible: "incompatible: made by another release, or no table at all"
    case .damaged: "damaged: the table contradicts itself; doctor: something was found"
    case .wrongType: "the value is of another type, or the key belongs to a collection"
    case .failure: "anything else, such as a system call that failed"
    case .foreign: "foreign: the name is taken by a user whom you do not trust; see --trust"
    case .brokenPipe: "the reader of the output has closed the pipe"
    }
  }

  init(_ code: TableError.Code) {
    self =
      switch code {
      case .exists, .outOfBounds: .notFound
      case .invalid: .usage
      case .noSuchTable, .unlinked: .noSuchTable
      case .notPermitted, .mirrored: .notPermitted
      case .foreign: .foreign
      case .full, .slotsExhausted, .queueFull: .full
      case .tooLarge: .tooLarge
      case .timedOut, .busy, .snapshotTooOld, .readersRemain, .behind, .upstreamAway: .timedOut
      case .incompatible, .notATable: .incompatible
      case .damaged: .damaged
      case .typeMismatch: .wrongType
      case .wouldDeadlock, .wrongTable, .forked, .unsupported, .notDurable, .system, .upstreamRefused, .upstreamUnsure,
        .upstreamLate:
        .failure
      }
  }

  static var table: String {
    allCases.map { status in
      let number = String(status.rawValue)
      return "  " + String(repeating: " ", count: 3 - number.count) + number + "  " + status.meaning
    }.joined(separator: "\n")
  }
}

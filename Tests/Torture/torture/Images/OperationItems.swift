import CTrace
import Glibc
import SharedMemory
import SharedTable
import TestSupport

/// A worker that is traced through an operation, and what its table held before and holds after it.
struct TracedOperation {
  let name: String
  let tracee: Tracee
  let table: WatchedTable
  let version: UInt64
  let before: Contents
  let after: Contents
  /// What `gc` has to keep for us.
  private let snapshot: SharedTable.Snapshot?

  /// Vector stores instead of string instructions, which single-step once a byte: what a killed string instruction
  /// leaves is a prefix of the same bytes in memory that nobody sees yet.
  static let environment = [
    "GLIBC_TUNABLES": "glibc.cpu.x86_rep_stosb_threshold=1073741824:glibc.cpu.x86_rep_movsb_threshold=1073741824"
  ]

  /// Starts the worker and lets it come to the operation's beginning.
  init(_ operation: Operation, _ variant: Table.Variant, _ name: String) throws {
    self.name = name
    tracee = try Tracee(
      "image-writer", ["\(variant)", operation.rawValue, name], environment: Self.environment, timeoutSeconds: 24 * 3600
    )
    if operation == .gc {
      try tracee.runToMarker(Marker.snapshot)
      snapshot = try Table.open(name, access: .participant).snapshot()
    } else {
      snapshot = nil
    }
    try tracee.runToMarker(Marker.begin)
    let words = tracee.text.split(whereSeparator: \.isWhitespace)
    guard words.count == 3, let version = UInt64(words[0]), let before = Contents(words[1]),
      let after = Contents(words[2])
    else { throw tracee.failure("said something else") }
    (self.version, self.before, self.after) = (version, before, after)
    table = WatchedTable(name)
  }

  var job: [String] { ["table", "IMAGE", "\(version)", "\(before)", "\(after)"] }
}

/// Every store of one operation: an image each, judged.
func tryOperation(_ operation: Operation, _ variant: Table.Variant, _ run: Run) throws {
  try withTableName { name in
    let judges = try Judges(run, table: name)
    ct_stay_on_one_processor(true)
    defer { ct_stay_on_one_processor(false) }
    let traced = try TracedOperation(operation, variant, name)
    var generator = run.generator
    let share = operation.share(run)
    var changes = 0
    let stores = StoreTrace(traced.tracee, traced.table) { cause, marks in
      changes += 1
      guard share == 1 || Double(generator.next() >> 11) / Double(1 << 53) < share else { return }
      let place = "\(operation) \(variant), change \(changes) (\(cause))"
      try judges.judge(traced.table, dead: marks, traced.job, place)
    }
    try stores.run(to: Marker.end)
    try judges.settle()
    try traced.tracee.finish()
    let table = try Table.open(name)
    try run.expect(try Contents(of: table) == traced.after, "\(operation) \(variant): its outcome is another")
    run.row("\(operation)", "\(variant)", "", "\(stores.stores)", "\(judges.images) of \(changes)", "")
  }
}

extension Operation {
  /// How many of the images are judged.
  func share(_ run: Run) -> Double {
    switch self {
    case .put, .overwrite, .delete, .barrier: 1
    default: 1
    }
  }

  func isFor(_ variant: Table.Variant) -> Bool { self != .gc || variant == .rcu }
}

let operationItems = Operation.allCases.flatMap { operation in
  Table.Variant.allCases.filter { operation.isFor($0) }.map { variant in
    Item("images.\(operation)-\(variant)", "an image at each store of: \(operation)") { run in
      try tryOperation(operation, variant, run)
    }
  }
}

import CTrace
import Glibc
import SharedMemory
import SharedTable
import TableEngine
import TestSupport

/// A worker that is traced through an operation, and what its table held before and holds after it.
struct TracedOperation {
  let name: String
  let tracee: Tracee
  let table: WatchedTable
  let version: UInt64
  /// What it held before the operation, and what it holds after each of its commits.
  let stages: [Contents]
  private let judged: Judged
  /// What `gc` and `rings` have to keep for us.
  private let snapshot: SharedTable.Snapshot?

  /// Vector stores instead of string instructions, which single-step once a byte: what a killed string instruction
  /// leaves is a prefix of the same bytes in memory that nobody sees yet.
  static let environment = [
    "GLIBC_TUNABLES": "glibc.cpu.x86_rep_stosb_threshold=1073741824:glibc.cpu.x86_rep_movsb_threshold=1073741824"
  ]

  /// Starts the worker and lets it come to the operation's beginning.
  init<Operation: WriterOperation>(_ operation: Operation, _ variant: Table.Variant, _ name: String) throws {
    self.name = name
    judged = Operation.judged
    tracee = try Tracee(
      Operation.role, ["\(variant)", operation.rawValue, name], environment: Self.environment,
      timeoutSeconds: 24 * 3600)
    var snapshot: SharedTable.Snapshot?
    for _ in 0..<operation.snapshots {
      try tracee.runToMarker(Marker.snapshot)
      snapshot = nil
      snapshot = try Table.open(name, access: .participant).snapshot()
    }
    self.snapshot = snapshot
    try tracee.runToMarker(Marker.begin)
    let words = tracee.text.split(whereSeparator: \.isWhitespace)
    let stages = words.dropFirst().compactMap { Contents($0) }
    guard words.count >= 3, let version = UInt64(words[0]), stages.count == words.count - 1 else {
      throw tracee.failure("said something else")
    }
    (self.version, self.stages) = (version, stages)
    table = WatchedTable(name)
  }

  /// Version and journal in the state watched. A record more makes another digest, and so does one that is changed.
  var committed: UInt64 { table.data.word(DataLayout.committed) }
  var journalDigest: UInt64 {
    (0..<Int(table.control.word(ControlLayout.journal + 8))).reduce(0) { digest, index in
      digest &* 31 &+ table.control.word(Self.journalOffset + index * 16)
    }
  }
  private static let journalOffset = Geometry(capacityBytes: Scene.capacityBytes).journalOffset

  /// The job of judging an image.
  /// - Parameter isDecided: of a recovery: what is not committed in the state watched never will be.
  func job(isDecided: Bool = false) -> [String] {
    let stages = isDecided ? [stages.reached(committed, since: version)] : stages
    return [judged.rawValue, "IMAGE", "\(version)"] + stages.map { "\($0)" }
  }
}

extension [Contents] {
  /// What a table holds that has committed so many versions since it held the first of these.
  func reached(_ committed: UInt64, since version: UInt64) -> Contents {
    self[Swift.min(committed > version ? Int(committed - version) : 0, count - 1)]
  }
}

/// An image at each store of one operation, judged; and of some of them an image at each store of their recovery.
func tryOperation<Operation: WriterOperation>(_ operation: Operation, _ variant: Table.Variant, _ run: Run) throws {
  try withTableName { name in
    let judges = try Judges(run, table: name)
    ct_stay_on_one_processor(true)
    defer { ct_stay_on_one_processor(false) }
    let traced = try TracedOperation(operation, variant, name)
    let recoverer = try Recoverer(table: name, judges)
    var choice = RecoveryChoice(operation, run)
    var changes = 0
    let stores = StoreTrace(traced.tracee, traced.table) { cause, marks in
      changes += 1
      let place = "\(operation) \(variant), change \(changes) (\(cause))"
      try judges.judge(traced.table, dead: marks, traced.job(), place)
      if choice.takes(traced) { try recoverer.recover(traced, dead: marks, place) { true } }
    }
    try stores.run(to: Marker.end)
    try judges.settle()
    try traced.tracee.finish()
    let table = try Table.open(name)
    let outcome = try Operation.judged.contents(of: table)
    try run.expect(outcome == traced.stages.last, "\(operation) \(variant): its outcome is another")
    run.row(
      "\(operation)", "\(variant)", "\(stores.stores)", "\(changes)", "\(recoverer.recoveries)", "\(recoverer.images)")
  }
}

/// Which images' recoveries are traced: of one-key operations each; of the others the first at each state of the
/// journal, before and after the commit, or a sample of those, and some between.
private struct RecoveryChoice {
  private let isShort: Bool
  private let share: Double
  private var generator: SplitMix
  private var last: [UInt64] = []

  init(_ operation: some WriterOperation, _ run: Run) {
    isShort = operation.isShort
    share = run.isLong ? 1 : 0.03
    generator = run.generator
  }

  mutating func takes(_ traced: TracedOperation) -> Bool {
    if isShort { return true }
    let state = [traced.journalDigest, traced.committed]
    defer { last = state }
    return generator.happens(state == last ? share / 20 : share)
  }
}

extension ImageOperation {
  func isFor(_ variant: Table.Variant) -> Bool {
    if variant == .rcu { return true }
    let reclaims: [Self] = [.gc, .free, .runs, .merge, .dissolve, .recycle, .recycleAborted, .deleteRecycling, .rings]
    return !reclaims.contains(self)
  }
}

let operationItems = ImageOperation.allCases.flatMap { operation in
  Table.Variant.allCases.filter { operation.isFor($0) }.map { variant in
    Item("images.\(operation)-\(variant)", "an image at each store of: \(operation)") { run in
      try tryOperation(operation, variant, run)
    }
  }
}

let collectionItems = CollectionOperation.allCases.flatMap { operation in
  Table.Variant.allCases.map { variant in
    Item("images.\(operation)-\(variant)", "an image at each store of a collection's: \(operation)") { run in
      try tryOperation(operation, variant, run)
    }
  }
}

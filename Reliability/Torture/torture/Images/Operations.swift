import CTrace
import SharedMemory
import SharedTable

/// What a traced writer does between the markers.
enum ImageOperation: String, CaseIterable, WriterOperation {
  case put, overwrite, delete, barrier, aborted, gc, free, split, node, deep, link, growth, expiry
  case compaction, merge, dissolve, shrink
  /// Entries are moved to larger blocks than they need.
  case slack
  /// The shrinker moves a node of the directory.
  case moveNode
  /// Runs of frames become free in a table that was full.
  case runs
  /// A put for which the rings double: a snapshot keeps as much as they hold.
  case rings
  /// Puts that take the blocks of superseded versions, of sizes that fit and others; a part is taken back, or all.
  case recycle, recycleAborted
  /// A removal that frees the value of an earlier one and takes the block of that one's tombstone.
  case deleteRecycling
  /// Of a part of a barrier, to its savepoint; what is left commits or is aborted.
  case rollback, rollbackAborted, rollbackSplit

  static let role = "image-writer"
  static let judged = Judged.table

  var snapshots: Int {
    switch self {
    case .gc: 1
    case .rings: 5
    default: 0
    }
  }

  var isShort: Bool { [.put, .overwrite, .delete, .deleteRecycling].contains(self) }
}

/// Something that a worker does under trace: `ROLE VARIANT OPERATION TABLE`.
protocol WriterOperation: RawRepresentable<String> {
  static var role: String { get }
  static var judged: Judged { get }
  /// How many it has the tracer take, one after the other.
  var snapshots: Int { get }
  /// One transaction of one key: few enough stores to look at each of its recovery's, too.
  var isShort: Bool { get }
}

/// Codes of the markers.
enum Marker {
  static let begin: UInt32 = 1
  static let end: UInt32 = 2
  /// The tracer takes a snapshot, which it keeps until the next of these.
  static let snapshot: UInt32 = 3
  /// A process that forks at each turn: its child is traced.
  static let turn: UInt32 = 4
}

/// The worker: `image-writer VARIANT OPERATION TABLE`. Makes the table and its contents; writes the version and the
/// contents before the operation and after it; then does it, between markers.
let serveImageWriter: @Sendable ([String]) throws -> Void = { arguments in
  guard arguments.count == 3, let operation = ImageOperation(rawValue: arguments[1]) else {
    throw Unavailable("which operation?")
  }
  let variant: Table.Variant = arguments[0] == "rcu" ? .rcu : .rwlock
  var scene = try Scene(arguments[2], variant)
  let act = try scene.prepare(operation)
  let before = Contents(scene.model)
  scene.applyOutcome()
  say("\(scene.table.version) \(before) \(Contents(scene.model))")
  ct_mark(Marker.begin, 0)
  try act()
  ct_mark(Marker.end, 0)
}

/// A table, and what it must hold.
struct Scene {
  let table: Table
  /// What readers find now.
  var model: [[UInt8]: [UInt8]] = [:]
  private var outcome: [[UInt8]: [UInt8]]?

  static let capacityBytes = 2 << 20

  static func options(_ variant: Table.Variant) -> Table.Options {
    Table.Options(variant: variant, capacityBytes: capacityBytes)
  }

  static let keyPrefix = Array("key ".utf8)

  /// Keys of this length make each append to a full change log push out at least one of its records.
  static func key(_ index: Int) -> [UInt8] {
    keyPrefix + Array("\(index) ".utf8) + [UInt8](repeating: UInt8(ascii: "k"), count: 232)
  }

  static func value(_ index: Int, round: Int) -> [UInt8] {
    Array("value \(index) of round \(round) ".utf8) + [UInt8](repeating: UInt8(round), count: 1 + index % 7 * 24)
  }

  /// 120 keys, of which some were overwritten and others removed and set again, and a change log that is full.
  init(_ name: String, _ variant: Table.Variant) throws {
    table = try Table.create(name, Self.options(variant))
    for index in 0..<120 { try set(index, round: 0) }
    for round in 1..<10 { for index in 0..<120 { try set(index, round: round) } }
    _ = try table.administration.maintain()
    for index in 0..<10 { try set(index, round: 10) }
    for index in 10..<14 { try remove(index) }
    for index in 10..<12 { try set(index, round: 11) }
  }

  mutating func set(_ index: Int, round: Int) throws {
    let (key, value) = (Self.key(index), Self.value(index, round: round))
    try table.set(key, value)
    model[key] = value
  }

  mutating func remove(_ index: Int) throws {
    _ = try table.remove(Self.key(index))
    model[Self.key(index)] = nil
  }

  /// What the operation leaves, if it is done.
  mutating func applyOutcome() { if let outcome { model = outcome } }

  /// - Returns: the operation, whose outcome is noted.
  mutating func prepare(_ operation: ImageOperation) throws -> () throws -> Void {
    let table = table
    switch operation {
    case .put: return putting(Self.key(1000), Self.value(5, round: 20))
    case .overwrite: return putting(Self.key(5), Self.value(6, round: 20))
    case .delete:
      outcome = model
      outcome![Self.key(7)] = nil
      return { _ = try table.remove(Self.key(7)) }
    case .barrier: return try barrier(aborted: false)
    case .aborted: return try barrier(aborted: true)
    case .gc: return try collecting()
    case .free: return try freeing()
    case .split: return try splitting()
    case .node: return try doublingANode()
    case .deep: return try deepening()
    case .link: return try linking()
    case .growth: return try growing()
    case .expiry: return try expiring()
    case .compaction: return try compacting()
    case .slack: return try movingToLargerBlocks()
    case .merge: return try merging()
    case .dissolve: return try dissolvingANode()
    case .shrink: return try shrinking()
    case .moveNode: return try movingANode()
    case .runs: return try freeingRuns()
    case .rings: return try doublingRings()
    case .recycle: return try recycling(aborted: false)
    case .recycleAborted: return try recycling(aborted: true)
    case .deleteRecycling: return try removingAfterRemovals()
    case .rollback: return rollingBack(aborted: false)
    case .rollbackAborted: return rollingBack(aborted: true)
    case .rollbackSplit: return try splittingInAPart()
    }
  }

  /// Notes an outcome: nil removes the key.
  mutating func expect(_ changes: [Change]) {
    outcome = model
    for (key, value) in changes { outcome![key] = value }
  }

  mutating func putting(_ key: [UInt8], _ value: [UInt8]) -> () throws -> Void {
    outcome = model
    outcome![key] = value
    let table = table
    return { try table.set(key, value) }
  }

  struct ChangeOfMind: Error {}

  /// 100 keys: 60 overwritten, 20 removed, 20 new.
  private mutating func barrier(aborted: Bool) throws -> () throws -> Void {
    for index in 20..<120 { try set(index, round: 29) }
    var after = model
    for index in 0..<80 { after[Self.key(20 + index)] = index % 4 == 3 ? nil : Self.value(index, round: 30) }
    for index in 0..<20 { after[Self.key(2000 + index)] = Self.value(index, round: 31) }
    if !aborted { outcome = after }
    let table = table
    return {
      do {
        try table.barrier { (tx: inout Transaction) in
          for index in 0..<80 {
            if index % 4 == 3 {
              _ = try tx.remove(Self.key(20 + index))
            } else {
              try tx.set(Self.key(20 + index), Self.value(index, round: 30))
            }
          }
          for index in 0..<20 {
            try tx.set(Self.key(2000 + index), Self.value(index, round: 31))
          }
          if aborted { throw ChangeOfMind() }
        }
      } catch is ChangeOfMind {}
    }
  }

  /// Superseded versions, some of which a snapshot keeps, and tombstones. What the first pass settles waits for the second.
  private mutating func collecting() throws -> () throws -> Void {
    for index in 20..<40 { try set(index, round: 40) }
    ct_mark(Marker.snapshot, 0)
    for index in 30..<70 { try set(index, round: 41) }
    for index in 60..<80 { try remove(index) }
    let table = table
    return { _ = try table.administration.maintain(passes: 2) }
  }

  /// Superseded versions and tombstones that no reader holds back: they are freed where they hang, without a transaction.
  private mutating func freeing() throws -> () throws -> Void {
    for index in 20..<70 { try set(index, round: 42) }
    for index in 80..<90 { try remove(index) }
    let table = table
    return { _ = try table.administration.maintain(passes: 2) }
  }

  /// Values until one more needs another unit: how many that are is tried on another table.
  private mutating func growing() throws -> () throws -> Void {
    var rehearsal = try Scene(table.name + ".rehearsal", table.variant)
    let count = try rehearsal.fill { rehearsal, _ in rehearsal.table.segment.work!.units > 1 }
    try Table.drop(rehearsal.table.name)
    _ = try fill { _, done in done == count - 1 }
    return putting(Self.key(3000 + count - 1), Self.large)
  }

  private static let large = [UInt8](repeating: 7, count: 20_000)

  private mutating func fill(until isEnough: (Scene, Int) -> Bool) throws -> Int {
    var count = 0
    while !isEnough(self, count) {
      let key = Self.key(3000 + count)
      try table.set(key, Self.large)
      model[key] = Self.large
      count += 1
    }
    return count
  }

  /// Keys that were to live a minute, set an hour ago: absent for every reader, but still there.
  private mutating func expiring() throws -> () throws -> Void {
    let past = try Table.open(table.name, clock: { HostClock.realtimeNanoseconds - 3_600_000_000_000 })
    for index in 20..<50 {
      try past.set(Self.key(index), Self.value(index, round: 60), expires: .after(.seconds(60)))
      model[Self.key(index)] = nil
    }
    let table = table
    return { _ = try table.administration.sweepExpired() }
  }
}

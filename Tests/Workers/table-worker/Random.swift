import SharedTable
import TestSupport

/// Random operations on one table, each with its result in a log.
///
/// Keys are numbers below `keys`; further ones, one a worker, count that worker's barriers: so the test can tell
/// whether the last barrier of a killed worker was committed.
struct RandomOperations {
  let table: Table
  let log: OperationLog
  let keys: Int
  let worker: Int
  var generator: SplitMix
  private var nextID: UInt64
  private var barriers: UInt64 = 0
  private var snapshot: Snapshot?

  struct Torn: Error {
    let key: Int
  }
  private struct Change: Error {}

  init(_ table: Table, _ log: OperationLog, keys: Int, worker: Int, seed: UInt64) {
    self.table = table
    self.log = log
    self.keys = keys
    self.worker = worker
    generator = SplitMix(seed: seed)
    nextID = UInt64(worker + 1) << 40
  }

  /// - Returns: how many writes found the table full; they changed nothing.
  mutating func run(_ operations: Int) throws -> Int {
    var full = 0
    for _ in 0..<operations {
      do {
        try step()
      } catch let error as TableError where error.code == .full {
        full += 1
      }
    }
    return full
  }

  private mutating func step() throws {
    switch generator.below(1000) {
    case ..<480: try get(generator.below(keys))
    case ..<580: try read(4)
    case ..<800: try barrier(changes: 1)
    case ..<900: try barrier(changes: 2 + generator.below(8))
    case ..<940: try barrier(changes: 1 + generator.below(8), abort: true)
    case ..<998: try readSnapshot()
    default: try count()
    }
  }

  private static func name(_ key: Int) -> String { "key \(key)" }

  private static func id(_ bytes: [UInt8]?, _ key: Int) throws -> UInt64 {
    guard let bytes else { return 0 }
    guard let id = TracedValue.id(bytes) else { throw Torn(key: key) }
    return id
  }

  private func get(_ key: Int) throws {
    let before = table.version
    let id = try Self.id(try table.bytes(forKey: Self.name(key)), key)
    log.append(.init(.get, key: key, version: before, other: table.version, value: id))
  }

  private mutating func read(_ count: Int) throws {
    let wanted = (0..<count).map { _ in generator.below(keys) }
    let before = table.version
    try table.read { view in
      for key in wanted {
        let id = try Self.id(try view.entry(forKey: Self.name(key))?.bytes, key)
        log.append(.init(.read, key: key, version: view.version, other: before, value: id))
      }
    }
  }

  private func count() throws {
    let before = table.version
    try table.read { view in
      log.append(.init(.count, version: view.version, other: before, value: UInt64(try view.count())))
    }
  }

  /// Takes a snapshot, or reads the one that is held, or lets it go.
  private mutating func readSnapshot() throws {
    guard table.variant == .rcu else { return try read(2) }
    if snapshot == nil || generator.below(50) == 0 { snapshot = try table.snapshot() }
    let key = generator.below(keys)
    do {
      try snapshot!.read { view in
        let id = try Self.id(try view.entry(forKey: Self.name(key))?.bytes, key)
        log.append(.init(.read, key: key, version: view.version, value: id))
      }
    } catch let error as TableError where error.code == .snapshotTooOld {
      snapshot = nil
    }
  }

  private mutating func barrier(changes: Int, abort: Bool = false) throws {
    var began: UInt64?
    do {
      try table.barrier { tx in
        // Nobody else commits meanwhile.
        let version = table.version + 1
        began = version
        log.append(.init(.begin, version: version))
        for _ in 0..<changes {
          if generator.below(8) == 0 { try failInAPart(of: &tx) }
          try change(&tx, version)
        }
        barriers += 1
        let own = keys + worker
        log.append(.init(.set, key: own, version: version, value: barriers))
        try tx.set(Self.name(own), bytes: [UInt8](TracedValue.bytes(barriers)))
        if abort { throw Change() }
      }
      log.append(.init(.commit, version: began!))
    } catch {
      if let began { log.append(.init(.abort, version: began)) }
      if !(error is Change) { throw error }
    }
  }

  /// Changes that nobody may ever see, and that no log tells of.
  private mutating func failInAPart(of tx: inout Transaction) throws {
    do {
      try tx.withSavepoint { (part: inout Transaction) throws in
        for _ in 0..<(1 + generator.below(12)) {
          let key = Self.name(generator.below(keys))
          if generator.below(3) == 0 { try part.remove(key) } else { try part.set(key, bytes: TracedValue.bytes(.max)) }
        }
        throw Change()
      }
    } catch is Change {}
  }

  private mutating func change(_ tx: inout Transaction, _ version: UInt64) throws {
    let key = generator.below(keys)
    switch generator.below(10) {
    case ..<6:
      nextID += 1
      try tx.set(Self.name(key), bytes: TracedValue.bytes(nextID))
      log.append(.init(.set, key: key, version: version, value: nextID))
    case ..<8:
      let wasThere = try tx.remove(Self.name(key))
      log.append(.init(.remove, key: key, version: version, value: wasThere ? 1 : 0))
    default:
      let id = try Self.id(try tx.entry(forKey: Self.name(key))?.bytes, key)
      log.append(.init(.readInside, key: key, version: version, value: id))
    }
  }
}

extension Transaction {
  mutating func set(_ key: String, bytes: [UInt8]) throws(TableError) { try set(key, bytes) }
}

import Glibc
import History
import SharedMemory
import SharedTable
import TestSupport

/// Random operations of one process on one table, each in its log before and after.
///
/// Keys below `registers` are changed by every way there is, the others by barriers alone: those are folded exactly.
struct HistoryWorker {
  static let registers = 16
  static let keys = 120
  /// Of a log: after so many a process waits to be killed. Where processes start slowly, others would write for ever.
  static let records = 20_000

  private let table: Table
  private let log: HistoryLog
  private var generator: SplitMix
  private var nextValue: UInt64
  private var held: Snapshot?
  /// The newest value and version of each register that this process read, to compare with.
  private var seen: [(value: UInt64, version: UInt64)?]

  struct Torn: Error {
    let key: Int
  }
  private struct Abort: Error {}

  /// `history-worker TABLE LOG NUMBER SEED participant|observer`
  static let role: @Sendable ([String]) throws -> Void = { arguments in
    let access: Table.Access = arguments[4] == "observer" ? .observer : .participant
    let table = try Table.open(arguments[0], access: access, timeout: .seconds(30))
    let log = HistoryLog(path: arguments[1], capacity: records) { HostClock.monotonicNanoseconds }
    var worker = HistoryWorker(table, log, number: Int(arguments[2])!, seed: UInt64(arguments[3])!)
    while !log.isStopRequested {
      if log.hasRoom(for: 64) { try worker.step() } else { usleep(1000) }
    }
  }

  private init(_ table: Table, _ log: HistoryLog, number: Int, seed: UInt64) {
    self.table = table
    self.log = log
    generator = SplitMix(seed: seed)
    nextValue = UInt64(number + 1) << 32
    seen = Array(repeating: nil, count: Self.registers)
  }

  private mutating func step() throws {
    if table.isObserver { return generator.below(3) == 0 ? try get() : try section() }
    switch generator.below(100) {
    case ..<30: try get()
    case ..<40: try set()
    case ..<46: try remove()
    case ..<62: try compareAndSet()
    case ..<78: try barrier()
    case ..<92: try section()
    default: try snapshot()
    }
  }

  static func name(_ key: Int) -> String { "key \(key)" }

  private mutating func register() -> Int { generator.below(Self.registers) }
  private mutating func anyKey() -> Int { generator.below(Self.keys) }

  private mutating func newValue() -> UInt64 {
    nextValue += 1
    return nextValue
  }

  static func value(_ bytes: [UInt8]?, _ key: Int) throws -> UInt64 {
    guard let bytes else { return 0 }
    guard let value = TracedValue.id(bytes) else { throw Torn(key: key) }
    return value
  }

  // MARK: - Single operations

  private mutating func get() throws {
    let key = generator.below(4) == 0 ? anyKey() : register()
    log.begin(.single)
    do throws(TableError) {
      if generator.below(3) == 0 {
        let bytes = try table.bytes(forKey: Self.name(key))
        try note(key, bytes, nil)
      } else {
        let entry = try table.entry(forKey: Self.name(key))
        try note(key, entry?.bytes, entry?.version)
      }
    } catch {
      try allow(error, .busy, .timedOut)
      return log.undone()
    }
    log.done()
  }

  private mutating func note(_ key: Int, _ bytes: [UInt8]?, _ version: UInt64?) throws(TableError) {
    let value: UInt64
    do {
      value = try Self.value(bytes, key)
    } catch {
      throw TableError(.damaged, table: table.name, "key \(key) holds a value that is not whole")
    }
    log.access(.init(key: key, .equals(value), version: version))
    if key < Self.registers { seen[key] = version.map { (value, $0) } }
  }

  /// Writes, and logs whether its condition held.
  private func conditionally(_ write: () throws(TableError) -> Bool) throws {
    do throws(TableError) {
      if try write() { log.done() } else { log.refused() }
    } catch {
      try allow(error, .timedOut, .full)
      log.undone()
    }
  }

  private mutating func set() throws {
    let (key, value) = (register(), newValue())
    let condition: Table.Condition = [.always, .always, .absent, .present][generator.below(4)]
    log.begin(.single)
    let known: Operation.Condition =
      condition == .absent ? .equals(0) : condition == .present ? .differs(0) : .always
    log.access(.init(key: key, known, write: value))
    try conditionally { () throws(TableError) in
      try table.set(Self.name(key), TracedValue.bytes(value), if: condition)
    }
  }

  private mutating func remove() throws {
    let key = register()
    log.begin(.single)
    log.access(.init(key: key, .differs(0), write: 0))
    try conditionally { () throws(TableError) in try table.remove(Self.name(key)) }
  }

  /// Against what this process read last, which may be long ago.
  private mutating func compareAndSet() throws {
    let (key, value) = (register(), newValue())
    guard let known = seen[key] else { return try get() }
    log.begin(.single)
    log.access(.init(key: key, .equals(known.value), write: value))
    try conditionally { () throws(TableError) in
      try table.set(Self.name(key), TracedValue.bytes(value), if: .version(known.version))
    }
    // Read it anew before the next attempt, as programs do.
    seen[key] = nil
  }

  // MARK: - Barriers and sections

  private mutating func barrier() throws {
    let aborts = generator.below(5) == 0
    log.begin(.barrier)
    do {
      try table.barrier { tx in
        // Nobody else commits meanwhile.
        log.version(table.version + 1)
        for _ in 0...generator.below(5) { try change(&tx) }
        if aborts { throw Abort() }
        log.closing()
      }
      log.done()
    } catch is Abort {
      log.undone()
    } catch let error as TableError {
      try allow(error, .timedOut, .full)
      log.undone()
    }
  }

  private mutating func change(_ tx: inout Transaction) throws {
    let key = generator.below(8) == 0 ? register() : anyKey()
    let name = Self.name(key)
    if generator.below(2) == 0 {
      let entry = try tx.entry(forKey: name)
      let value = try Self.value(entry?.bytes, key)
      log.access(.init(key: key, .equals(value), version: entry?.version))
    }
    if generator.below(5) == 0 {
      log.access(.init(key: key, write: 0))
      try tx.remove(name)
    } else {
      let value = newValue()
      log.access(.init(key: key, write: value))
      try tx.set(name, TracedValue.bytes(value))
    }
  }

  private mutating func section() throws {
    log.begin(.section)
    do {
      try table.read { view in
        log.version(view.version)
        for _ in 0..<6 { try look(view) }
      }
      log.done()
    } catch let error as TableError {
      try allow(error, .timedOut, .busy, .snapshotTooOld)
      log.undone()
    }
  }

  private mutating func look(_ view: borrowing ReadView) throws {
    let key = generator.below(4) == 0 ? register() : anyKey()
    let entry = try view.entry(forKey: Self.name(key))
    let value = try Self.value(entry?.bytes, key)
    log.access(.init(key: key, .equals(value), version: entry?.version))
  }

  /// Takes a snapshot, or looks into the one that is held, or lets it go.
  private mutating func snapshot() throws {
    guard table.variant == .rcu else { return try section() }
    guard let held else {
      log.begin(.section)
      let snapshot = try table.snapshot()
      log.version(snapshot.version)
      held = snapshot
      return log.done()
    }
    log.begin(.laterSection)
    do {
      try held.read { view in
        log.version(view.version)
        for _ in 0..<4 { try look(view) }
      }
      log.done()
      if generator.below(10) == 0 { self.held = nil }
    } catch let error as TableError {
      try allow(error, .snapshotTooOld)
      self.held = nil
      log.undone()
    }
  }

  /// Errors that the API promises for what others do here; any other is a broken promise.
  private func allow(_ error: TableError, _ codes: TableError.Code...) throws {
    if !codes.contains(error.code) { throw error }
  }
}

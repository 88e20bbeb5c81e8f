import Glibc
import SharedMemory
import SharedTable
import TableEngine
import TestSupport

/// What a thread does to the table, again and again; each is given the number of the round.
///
/// Accounts hold a constant sum in every version (G1, G2); values of changing length see to it that memory is reused.
struct ThreadRoles {
  static let accounts = (0..<32).map { "account \($0)" }
  static let sum = 32_000
  private static let others = (0..<48).map { "other \($0)" }

  struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  let table: Table
  /// Over the same mapping: its addresses are the writers'.
  let observer: Table

  init(_ table: Table) throws {
    self.table = table
    let segment = table.segment
    let observing = try Segment.observe(
      table.name, segment.dataObject, { _ throws(SystemError) in segment.dataMapping })
    observer = Table(observing, timeout: .milliseconds(200), clock: ExpiryClock(nil))
    try table.barrier { tx in for account in Self.accounts { try tx.set(account, Self.sum / Self.accounts.count) } }
  }

  func transfer(_ generator: inout SplitMix) throws {
    let (from, to) = (Self.accounts[generator.below(32)], Self.accounts[generator.below(32)])
    do {
      // Full: a section in place, which nobody may evict, was in the way.
      try Self.tolerating(.full) {
        try table.barrier { tx in
          try tx.increment(from, by: -7)
          if generator.below(8) == 0 { throw CancellationError() }
          try tx.increment(to, by: 7)
        }
      }
    } catch is CancellationError {
    }
  }

  /// Long, short, gone, expired: blocks of every kind come and go.
  func churn(_ generator: inout SplitMix) throws {
    let key = Self.others[generator.below(48)]
    try Self.tolerating(.full) { try change(key, &generator) }
  }

  private func change(_ key: String, _ generator: inout SplitMix) throws {
    switch generator.below(8) {
    case 0: try table.remove(key)
    case 1: try table.set(key, [UInt8](repeating: 3, count: generator.below(20_000)), expires: .after(.milliseconds(1)))
    default:
      // Every byte the same: a reader that sees two has seen reused memory.
      try table.set(key, [UInt8](repeating: UInt8(generator.below(256)), count: generator.below(600)))
    }
  }

  func read(_ generator: inout SplitMix) throws {
    try table.read { view in try Self.check(view, generator.below(48)) }
    _ = try table.get(Self.accounts[generator.below(32)], as: Int.self)
    var buffer = [UInt8](repeating: 0, count: 700)
    let count = try Self.others[generator.below(48)].withKeyBytes { key in
      try buffer.withUnsafeMutableBytes { try table.get(key, into: $0) }
    }
    if let count, count > 0, count <= 700, buffer[..<count].contains(where: { $0 != buffer[0] }) {
      throw Broken(description: "a value of two barriers")
    }
  }

  func observe(_ generator: inout SplitMix) throws {
    try Self.tolerating(.snapshotTooOld, .busy) {
      try observer.read { view in
        try Self.check(view, generator.below(48))
        try view.forEach { key, entry in
          precondition(key.byteCount + entry.bytes.byteCount > 0 && entry.version <= view.version)
        }
      }
      _ = try observer.bytes(forKey: Self.others[generator.below(48)])
    }
  }

  func holdSnapshot(_ generator: inout SplitMix) throws {
    try Self.tolerating(.snapshotTooOld, .slotsExhausted) {
      let snapshot = try table.snapshot()
      for _ in 0..<generator.below(30) { try snapshot.read { view in try Self.check(view, generator.below(48)) } }
    }
  }

  func maintain(_ generator: inout SplitMix) throws {
    _ = try table.administration.maintain()
    if generator.below(16) == 0 {
      _ = try table.statistics.readers.count + table.administration.clearDeadReaders().count
    }
    if generator.below(64) == 0 { try table.administration.setLimits(table.administration.limits()) }
  }

  /// One handle more, used and let go. It shares its segment with the others.
  func open(_ generator: inout SplitMix) throws {
    let access: Table.Access = generator.below(2) == 0 ? .participant : .observer
    let another = try Table.open(table.name, access: access)
    try Self.tolerating(.snapshotTooOld, .busy) { _ = try another.get(Self.accounts[0], as: Int.self) }
  }

  private static func check(_ view: borrowing ReadView, _ other: Int) throws {
    var sum = 0
    for account in accounts { sum += try view.get(account, as: Int.self) ?? 0 }
    if sum != Self.sum { throw Broken(description: "a section saw the sum \(sum)") }
    guard let bytes = try view.bytes(forKey: others[other]), bytes.byteCount > 0 else { return }
    let first = bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    for index in 0..<bytes.byteCount where bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self) != first {
      throw Broken(description: "a section saw a value of two barriers")
    }
  }

  static func tolerating(_ codes: TableError.Code..., body: () throws -> Void) throws {
    do { try body() } catch let error as TableError where codes.contains(error.code) {}
  }
}

import SharedTable
import TestSupport

/// A promise that a process saw broken. It ends the process, which ends the storm.
struct Broken: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// What a storm's table holds. Every value but the tallies is a `TracedValue`, whose bytes all follow from its id, and
/// the id says what must be true of it: whatever is torn, freed or another key's is seen by looking at one value.
enum StormContents {
  /// The bank: transfers keep the sum.
  static let accounts = (0..<64).map { "account \($0)" }
  static let opening = 1000
  static let total = accounts.count * opening
  /// All members of a group are written by one barrier, with one id.
  static let groups = (0..<8).map { group in (0..<5).map { "group \(group) member \($0)" } }
  /// Keys that come and go, so that the table grows, splits and is collected.
  static func churned(_ number: Int) -> String { "churn \(number)" }
  /// Keys that expire within a breath; the id is the instant.
  static let leases = (0..<64).map { "lease \($0)" }
  /// How many barriers of a place were committed, by the table.
  static func tally(_ seat: Int) -> String { "tally \(seat)" }

  private static let balanceBits: UInt64 = 24

  /// All of about the same length, so that a reader's figures mean the same in every phase.
  static func account(balance: Int, salt: UInt64) -> [UInt8] {
    let biased = UInt64(balance + 1 << (balanceBits - 1))
    var id = salt << balanceBits | biased
    while !(96..<160).contains(TracedValue.byteCount(id)) { id &+= 1 << balanceBits }
    return TracedValue.bytes(id)
  }

  static func balance(_ bytes: UnsafeRawBufferPointer, _ key: String) throws -> Int {
    let id = try identity(bytes, key)
    return Int(id & (1 << balanceBits - 1)) - 1 << (balanceBits - 1)
  }

  static func churnValue(_ number: Int, salt: UInt64) -> [UInt8] { TracedValue.bytes(salt << 24 | UInt64(number)) }

  static func check(churned number: Int, _ bytes: UnsafeRawBufferPointer) throws {
    let id = try identity(bytes, churned(number))
    if id & 0xff_ffff != UInt64(number) { throw Broken("\(churned(number)) holds the value of another key (\(id))") }
  }

  static func identity(_ bytes: UnsafeRawBufferPointer, _ key: String) throws -> UInt64 {
    guard let id = TracedValue.id(of: bytes) else {
      let shown = bytes.prefix(16).map { String($0, radix: 16) }.joined(separator: " ")
      throw Broken("\(key) holds a value of \(bytes.count) bytes that is not whole: \(shown) (G1)")
    }
    return id
  }

  static func fill(_ table: Table, seats: Int) throws {
    try table.barrier { tx in
      for (index, key) in accounts.enumerated() { try tx.set(key, account(balance: opening, salt: UInt64(index))) }
      for group in groups { for key in group { try tx.set(key, TracedValue.bytes(1)) } }
      for seat in 0..<seats { try tx.set(tally(seat), 0) }
    }
  }
}

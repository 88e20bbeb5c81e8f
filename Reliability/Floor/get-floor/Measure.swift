import CFloor
import Glibc
import SharedTable
import TestSupport

/// Keys and a table of each kind, filled alike.
@safe final class Contestants {
  let table: Table
  let floor: OpaquePointer
  /// `lookups` keys of 16 bytes, one behind the other, in random order.
  let keys: UnsafeMutableRawBufferPointer
  let lookups: Int
  let buffer: UnsafeMutableRawBufferPointer

  init(keyCount: Int) throws {
    let keyBytes = Int(FLOOR_KEY_BYTES)
    let valueBytes = Int(FLOOR_VALUE_BYTES)
    table = try Table.temporary(capacityBytes: (8 << 20) + keyCount * 512)
    unsafe floor = floor_create(keyCount, valueBytes)
    lookups = max(keyCount, 200_000)
    unsafe keys = .allocate(byteCount: lookups * keyBytes, alignment: 16)
    unsafe buffer = .allocate(byteCount: valueBytes, alignment: 16)
    let value = [UInt8](repeating: 0x5a, count: valueBytes)

    var generator = SplitMix(seed: 42)
    var all = (0..<keyCount).map { _ in (generator.next(), generator.next()) }
    for start in stride(from: 0, to: keyCount, by: 1000) {
      try table.barrier { tx in
        for index in start..<min(start + 1000, keyCount) {
          let key = unsafe withUnsafeBytes(of: all[index]) { unsafe [UInt8]($0) }
          try tx.set(key, value)
          unsafe floor_put(floor, key, value)
        }
      }
    }
    all.shuffle(using: &generator)
    for index in 0..<lookups {
      unsafe keys.storeBytes(
        of: all[index % keyCount], toByteOffset: index * keyBytes, as: (UInt64, UInt64).self)
    }
  }

  deinit {
    unsafe floor_destroy(floor)
    unsafe keys.deallocate()
    unsafe buffer.deallocate()
  }

  /// The functions that are there to be disassembled find what they should, and are not stripped.
  func checkProbes() throws {
    let key = unsafe UnsafeRawBufferPointer(rebasing: keys[..<Int(FLOOR_KEY_BYTES)])
    let length = try unsafe probeGet(table, key, buffer)
    let bytes = try unsafe probeCountingGet(table, [UInt8](key)).value
    guard length == Int(FLOOR_VALUE_BYTES), bytes?.count == Int(FLOOR_VALUE_BYTES) else { throw Failure.missed }
  }

  /// Lookups in one round: so few that most rounds end before the scheduler interrupts them.
  static let roundLookups = 20_000

  /// The keys of a round, one behind the other.
  private func roundKeys(_ round: Int) -> UnsafeMutableRawPointer {
    let index = round * Self.roundLookups % (lookups - Self.roundLookups + 1)
    return unsafe keys.baseAddress! + index * Int(FLOOR_KEY_BYTES)
  }

  /// Nanoseconds a lookup of ours.
  func measureTable(round: Int) throws -> Double {
    let keyBytes = Int(FLOOR_KEY_BYTES)
    var sum = 0
    var key = unsafe roundKeys(round)
    let begin = now()
    for _ in 0..<Self.roundLookups {
      sum &+= try unsafe table.get(UnsafeRawBufferPointer(start: key, count: keyBytes), into: buffer) ?? 0
      unsafe key += keyBytes
    }
    let elapsed = now() - begin
    guard sum == Self.roundLookups * Int(FLOOR_VALUE_BYTES) else { throw Failure.missed }
    return Double(elapsed) / Double(Self.roundLookups)
  }

  /// Nanoseconds a lookup of the floor.
  func measureFloor(round: Int) throws -> Double {
    let key = unsafe roundKeys(round)
    let begin = now()
    let sum = unsafe floor_get_all(floor, key, Self.roundLookups, buffer.baseAddress!)
    let elapsed = now() - begin
    guard sum == UInt64(Self.roundLookups) * UInt64(FLOOR_VALUE_BYTES) else { throw Failure.missed }
    return Double(elapsed) / Double(Self.roundLookups)
  }
}

enum Failure: Error { case missed }

/// - Returns: whether every ratio keeps the promise.
func measureAll(rounds: Int, promisedRatio: Double) throws -> Bool {
  var kept = true
  print("      keys   floor ns   get ns   ratio   (medians of \(rounds) rounds; promised: at most \(promisedRatio))")
  for keyCount in [10_000, 1_000_000] {
    let contestants = try Contestants(keyCount: keyCount)
    try contestants.checkProbes()
    var floor: [Double] = []
    var table: [Double] = []
    for round in 0..<rounds {
      floor.append(try contestants.measureFloor(round: round))
      // Other keys: the floor has brought its round's into the cache.
      table.append(try contestants.measureTable(round: round + rounds / 2))
    }
    let (a, b) = (median(floor), median(table))
    print("\(column(keyCount, 10)) \(column(a, 10)) \(column(b, 8)) \(column(b / a, 7))")
    kept = kept && b / a <= promisedRatio
  }
  return kept
}

private func now() -> Int {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

private func column(_ value: Int, _ width: Int) -> String { pad("\(value)", width) }
private func column(_ value: Double, _ width: Int) -> String {
  let hundredths = Int((value * 100).rounded())
  let fraction = hundredths % 100
  return pad("\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)", width)
}
private func pad(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.utf8.count)) + text
}

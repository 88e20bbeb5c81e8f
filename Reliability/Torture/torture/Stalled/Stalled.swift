import Glibc
import SharedTable
import TestSupport

/// Chapter 7: readers that stop where it costs the most (G7).
let stalledGroup = Group(
  number: 7, title: "Stalled readers", columns: ["case", "policy", "writes", "peak memory", "budget", "outcome"],
  items: [
    Item("stalled.get-steps", "a reader stopped at each instruction of a single get", stoppedAtEachInstruction),
    Item("stalled.evict", "stopped readers of a table that evicts") { try stalledReaders($0, .evict) },
    Item("stalled.wait", "stopped readers of a table whose writers wait") { try stalledReaders($0, .wait) },
    Item("stalled.refuse", "stopped readers of a table that refuses writes") { try stalledReaders($0, .refuse) },
    Item("stalled.small", "a snapshot of less than the budget, held for an hour of writes", snapshotOfASmallTable),
    Item(
      "stalled.others", "who costs nothing: a stopped observer, a stopped reader of the rwlock variant", costNothing),
  ])

/// An hour of writes is this many: 10,000 a second. What counts for memory is their number.
let writesOfAnHour = 36_000_000

/// What the items' tables hold: values that say by themselves whose they are, and of which round of overwriting.
struct StalledContents {
  let keys: Int
  static let valueBytes = 112

  static func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(number)) { [UInt8]($0) } }

  static func value(_ key: Int, round: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: valueBytes) { buffer, count in
      let words = UnsafeMutableRawBufferPointer(buffer)
      var word = UInt64(key) << 32 | UInt64(round)
      for offset in stride(from: 0, to: valueBytes, by: 8) {
        words.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
        word = word &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      }
      count = valueBytes
    }
  }

  /// The round of a value of `key`; nil if it is none, or not whole.
  static func round(_ bytes: [UInt8], of key: Int) -> Int? {
    guard bytes.count == valueBytes else { return nil }
    let word = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    let round = Int(word & 0xffff_ffff)
    return bytes == value(key, round: round) ? round : nil
  }
}

/// A process that reads a table and stops where it is told (a worker's role).
///
/// It says `inside` before it stops itself, and `whole` or what was wrong once it goes on.
func stall(_ arguments: [String]) throws {
  let table = try Table.open(arguments[0], access: arguments[1] == "observer" ? .observer : .participant)
  let keys = Int(arguments[2])!
  switch arguments[1] {
  case "get":
    _ = try table.bytes(forKey: StalledContents.key(0))
    // Its value is decoded where it lies: that is in the middle of the get.
    let value = try table.get(StalledContents.key(1), as: StoppingValue.self)
    say(value.map { StalledContents.round($0.bytes, of: 1) } == 0 ? "whole" : "the value of a get has changed")
  case "section", "observer":
    try table.read { view in
      guard let span = try view.bytes(forKey: StalledContents.key(1)) else { return say("no value") }
      let before = span.withUnsafeBytes { [UInt8]($0) }
      stopHere()
      let after = span.withUnsafeBytes { [UInt8]($0) }
      guard before == after, StalledContents.round(after, of: 1) == 0 else { return say("bytes in place have changed") }
      say(described { try audit(keys) { try view.entry(forKey: $0)?.bytes } })
    }
  default:
    let snapshot = try table.snapshot()
    say("inside")
    var generator = SplitMix(seed: UInt64(keys))
    while let count = readLine().flatMap({ Int($0) }) {
      say(
        described {
          try snapshot.read { view in
            try audit(count, of: keys, with: &generator) { try view.entry(forKey: $0)?.bytes }
          }
        })
    }
  }
}

/// All keys, or `count` of them at random, as of round 0.
private func audit(_ keys: Int, _ read: ([UInt8]) throws -> [UInt8]?) throws -> String {
  for key in 0..<keys where StalledContents.round(try read(StalledContents.key(key)) ?? [], of: key) != 0 {
    return "key \(key) has changed in the snapshot"
  }
  return "whole"
}

private func audit(
  _ count: Int, of keys: Int, with generator: inout SplitMix, _ read: ([UInt8]) throws -> [UInt8]?
) throws -> String {
  for _ in 0..<count {
    let key = generator.below(keys)
    guard StalledContents.round(try read(StalledContents.key(key)) ?? [], of: key) == 0 else {
      return "key \(key) has changed in the snapshot"
    }
  }
  return "whole"
}

private func stopHere() {
  say("inside")
  raise(SIGSTOP)
}

/// Bytes whose decoding stops the process.
private struct StoppingValue: TableValue {
  let bytes: [UInt8]
  static var tableType: ValueType { .bytes }
  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try bytes.withTableBytes(body)
  }
  init?(tableBytes: UnsafeRawBufferPointer) {
    stopHere()
    bytes = [UInt8](tableBytes)
  }
}

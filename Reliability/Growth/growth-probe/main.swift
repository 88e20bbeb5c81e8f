// Loads a table key by key, 16-byte keys and 100-byte values, and looks at each power of ten from 100 thousand on:
// the counted work of the worst single write must be the same at all of them, and an entry may cost at most 56
// bytes beyond key and value at the end. Times are printed and not judged.
//
// usage: growth-probe [KEYS]      exit status 1 if either does not hold
import Glibc
import SharedMemory
import SharedTable
import TableEngine

let keyBytes = 16
let valueBytes = 100
let mostOverheadBytes = 56.0

/// Work of single writes: what the worst one did.
struct Work: Equatable, CustomStringConvertible {
  var wordsMoved = 0
  var pagesClaimed = 0
  var slotsScanned = 0

  init() {}

  init(_ counters: WorkCounters) {
    wordsMoved = counters.wordsMoved
    pagesClaimed = counters.units * (Geometry.unitBytes / 4096)
    slotsScanned = counters.slotsScanned
  }

  mutating func raise(to now: Work, since before: Work) {
    wordsMoved = max(wordsMoved, now.wordsMoved - before.wordsMoved)
    pagesClaimed = max(pagesClaimed, now.pagesClaimed - before.pagesClaimed)
    slotsScanned = max(slotsScanned, now.slotsScanned - before.slotsScanned)
  }

  var description: String { "\(wordsMoved) words moved, \(pagesClaimed) pages claimed, \(slotsScanned) slots scanned" }
}

/// The key of a number: its digits, padded with zeros.
func writeKey(_ number: Int, into key: inout [UInt8]) {
  var rest = number
  for position in (0..<keyBytes).reversed() {
    key[position] = UInt8(ascii: "0") + UInt8(rest % 10)
    rest /= 10
  }
}

func load(_ total: Int) throws -> Bool {
  let table = try Table.temporary(capacityBytes: max(16 << 20, total * 190))
  let counters = table.segment.work!
  let value = [UInt8](repeating: 0x78, count: valueBytes)
  var key = [UInt8](repeating: 0, count: keyBytes)
  var worst = Work()
  var milestones: [Work] = []
  var slowestNanoseconds: UInt64 = 0
  var overhead = 0.0
  var milestone = 100_000

  for number in 1...total {
    writeKey(number, into: &key)
    let before = Work(counters)
    let begin = HostClock.monotonicNanoseconds
    try table.set(key, value)
    slowestNanoseconds = max(slowestNanoseconds, HostClock.monotonicNanoseconds - begin)
    worst.raise(to: Work(counters), since: before)
    guard number == milestone || number == total else { continue }
    overhead = Double(table.statistics.usedBytes ?? 0) / Double(number) - Double(keyBytes + valueBytes)
    print(
      "\(number) keys: worst write \(worst), \(slowestNanoseconds / 1000) us;",
      "\(Int(overhead.rounded())) bytes an entry beyond key and value")
    if number == milestone {
      milestones.append(worst)
      milestone *= 10
    }
  }
  let isConstant = milestones.allSatisfy { $0 == milestones[0] }
  if !isConstant { print("growth-probe: the worst write does more work in a larger table") }
  if overhead > mostOverheadBytes { print("growth-probe: more than \(mostOverheadBytes) bytes an entry") }
  return isConstant && overhead <= mostOverheadBytes
}

do {
  let keys = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) : 1_000_000
  guard let keys, keys >= 100_000 else {
    print("usage: growth-probe [KEYS], at least 100000")
    exit(2)
  }
  exit(try load(keys) ? 0 : 1)
} catch {
  print("growth-probe: \(error)")
  exit(1)
}

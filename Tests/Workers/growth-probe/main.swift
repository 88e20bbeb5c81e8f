// Loads a table key by key and prints, at each power of ten from 100 thousand on, the work of the worst single
// write so far and the memory an entry costs beyond key and value. usage: growth-probe [KEYS]
import SharedMemory
import SharedTable
import TableEngine

struct Worst {
  var wordsMoved = 0
  var pages = 0
  var slots = 0
  var bitmapWords = 0
}

func load(_ total: Int) throws {
  let capacity = max(16 << 20, total * 190)
  let table = try Table.temporary(capacityBytes: capacity)
  let work = table.segment.work!
  var worst = Worst()
  var slowest: UInt64 = 0
  let value = [UInt8](repeating: 0x78, count: 100)
  var milestone = 100_000
  let begin = HostClock.monotonicNanoseconds
  var batchStart = begin
  for number in 1...total {
    let before = (work.wordsMoved, work.units, work.slotsScanned, work.bitmapWords)
    let started = HostClock.monotonicNanoseconds
    try table.set(key(number), value)
    slowest = max(slowest, HostClock.monotonicNanoseconds - started)
    worst.wordsMoved = max(worst.wordsMoved, work.wordsMoved - before.0)
    worst.pages = max(worst.pages, (work.units - before.1) * 256)
    worst.slots = max(worst.slots, work.slotsScanned - before.2)
    worst.bitmapWords = max(worst.bitmapWords, work.bitmapWords - before.3)
    if number == milestone || number == total {
      let statistics = table.segment.statistics
      let overhead = Double(statistics.usedBytes!) / Double(number) - 116
      let each =
        (HostClock.monotonicNanoseconds - batchStart)
        / UInt64(number - milestone / 10 + (milestone == 100_000 ? 10_000 : 0))
      print(
        "keys \(number) words-moved \(worst.wordsMoved) pages \(worst.pages) slots \(worst.slots)",
        "bitmap-words \(worst.bitmapWords) overhead-bytes \(Int((overhead * 10).rounded()) / 10)",
        "slowest-us \(slowest / 1000) ns-each \(each)")
      milestone *= 10
      batchStart = HostClock.monotonicNanoseconds
    }
  }
}

/// 16 bytes, all different.
func key(_ number: Int) -> [UInt8] {
  var key = [UInt8](repeating: 0x30, count: 16)
  var rest = number
  for position in (0..<16).reversed() where rest > 0 {
    key[position] = UInt8(0x30 + rest % 10)
    rest /= 10
  }
  return key
}

do {
  try load(CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 1_000_000)
} catch {
  print("growth-probe: \(error)")
}

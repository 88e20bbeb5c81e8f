// Writers of one table beside each other: what they write together, as a share of what one alone writes, and the most
// turns of others that one of them waited for.
//
//   writers-probe [PROCESSES [ROUNDS [MILLISECONDS]]]     how long a barrier lasts at least (default 0: a `set`)

import Glibc
import SharedMemory
import SharedTable
import TestSupport

let roundNanoseconds: UInt64 = 100_000_000
let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "writer" {
  try serve(Array(arguments.dropFirst()))
} else {
  try compare(
    processes: arguments.count > 0 ? Int(arguments[0])! : 2, rounds: arguments.count > 1 ? Int(arguments[1])! : 40,
    milliseconds: arguments.count > 2 ? UInt64(arguments[2])! : 0)
}

/// A writer: at each line, a moment, writes from then on for the length of a round, and says how often it did.
func serve(_ arguments: [String]) throws {
  let table = try Table.open(arguments[0], access: .participant)
  let key = arguments[1]
  let nanoseconds = UInt64(arguments[2])! * 1_000_000
  while let line = readLine(), let start = UInt64(line) {
    while HostClock.monotonicNanoseconds < start {}
    var writes = 0
    while HostClock.monotonicNanoseconds < start + roundNanoseconds {
      try table.barrier { tx in
        try tx.set(key, writes)
        let end = nanoseconds == 0 ? 0 : HostClock.monotonicNanoseconds + nanoseconds
        while HostClock.monotonicNanoseconds < end {}
      }
      writes += 1
    }
    print(writes)
    fflush(nil)
  }
}

/// Alone and together in turn, so that what else the machine does meets both alike. It only ever slows a round down: so the
/// upper quartile of each.
func compare(processes: Int, rounds: Int, milliseconds: UInt64) throws {
  let name = "writers-probe.\(getpid())"
  let table = try Table.create(name, .init(capacityBytes: 16 << 20))
  defer { try? Table.drop(name) }
  let writers = try (0..<processes).map { index in
    try WorkerProcess(
      CommandLine.arguments[0], ["writer", table.name, "key \(index)", "\(milliseconds)"],
      timeoutSeconds: 60 + rounds)
  }
  var alone: [Int] = []
  var together: [Int] = []
  for _ in 0..<rounds {
    alone.append(try round(writers.prefix(1)).reduce(0, +))
    let writes = try round(writers[...])
    together.append(writes.reduce(0, +))
  }
  for writer in writers { try writer.finish() }
  let ratio = Double(together.sorted()[rounds * 3 / 4]) / Double(alone.sorted()[rounds * 3 / 4])
  print(
    """
    \(processes) writers: \((ratio * 100).rounded() / 100) of one; \
    longest wait: \(table.statistics.barrierWaits!.mostTurns) turns of others
    """)
}

/// A round of all of these: how often each wrote.
func round(_ writers: ArraySlice<WorkerProcess>) throws -> [Int] {
  let start = HostClock.monotonicNanoseconds + 50_000_000
  for writer in writers { try writer.send("\(start)") }
  return try writers.map { Int(try $0.readLine())! }
}

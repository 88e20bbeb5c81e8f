import Glibc
import SharedTable

/// `bench worker overwrite|read TABLE KEYS`: works between "go" and "stop" on its standard input.
/// `bench worker barrier TABLE CHANGES`: at "go" makes the changes in a barrier, and stays in it.
/// `bench worker count TABLE KEYS`: at "go" reads a fixed number and answers with the processor time of one, in
/// picoseconds.
/// `bench worker partner-pipe|partner-wait|partner-changes TABLE 0`: from "go" on answers what it is told.
func serveAsWorker(_ arguments: [String]) throws {
  guard arguments.count == 3, let keyCount = Int(arguments[2]) else { throw Failure("worker: \(arguments)") }
  let table = try Table.open(arguments[1], access: .participant)
  let workload = Workload(keyCount: max(1, keyCount))
  answer("ready")
  let value = workload.value
  var number = 0
  while let line = readLine() {
    guard line == "go" else { throw Failure("worker: \(line)") }
    if arguments[0] == "count" {
      let begin = processorTime()
      for round in 0..<20 { try read(table, workload, workload.round(round).keys, Workload.roundLookups) }
      answer("\((processorTime() - begin) * 1000 / (20 * Workload.roundLookups))")
      continue
    }
    if arguments[0].hasPrefix("partner-") { return try answerAsPartner(arguments[0], table) }
    if arguments[0] == "barrier" {
      try table.barrier { tx in
        for index in 0..<keyCount { try tx.set("victim \(index)", index) }
        answer("inside")
        _ = readLine()
      }
    }
    answer("going")
    while !isTold() {
      // Not in the order of the lookups: else it could be just ahead of the contestant beside it, and fetch for it.
      let key = workload.round(number &* 7919, 64).keys
      number &+= 1
      if arguments[0] == "overwrite" {
        for index in 0..<64 { try table.set(Key(at: key + index * Workload.keyBytes), value) }
      } else {
        try read(table, workload, key, 64)
      }
    }
    guard readLine() == "stop" else { throw Failure("worker: no stop") }
    answer("stopped")
  }
}

private func read(_ table: Table, _ workload: Workload, _ keys: UnsafeRawPointer, _ count: Int) throws {
  let buffer = Workload.buffer
  for index in 0..<count {
    let key = UnsafeRawBufferPointer(start: keys + index * Workload.keyBytes, count: Workload.keyBytes)
    _ = try table.get(key, into: buffer)
  }
}

private func isTold() -> Bool {
  var p = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
  return poll(&p, 1, 0) > 0
}

func answer(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(STDOUT_FILENO, bytes, bytes.count)
}

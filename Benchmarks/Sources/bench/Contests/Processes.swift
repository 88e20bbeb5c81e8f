import Glibc
import SharedTable

/// What a read costs a process when it is one of many: processor time each, which must not grow with their number.
func processContests() throws -> Contest {
  let workload = Workload(keyCount: 10_000)
  let ours = try OurTable(workload)
  return Contest(
    name: "processes", work: "processor time of one get, by the number of processes that read at once",
    reference: "1 process",
    contestants: try [1, 2, 8, 64].map { count in
      let readers = try Readers(ours, keyCount: workload.keyCount, count: count)
      return Contestant(
        "\(count) process\(count == 1 ? "" : "es")", beside: nil, measuring: { _ in try readers.readTogether() })
    })
}

/// Processes that read when told and say what it cost them.
private final class Readers {
  private let processes: [ChildProcess]

  init(_ ours: OurTable, keyCount: Int, count: Int) throws {
    processes = try (0..<count).map { _ in
      try ChildProcess(ownPath, ["worker", "count", ours.table.name, "\(keyCount)"])
    }
    for process in processes {
      guard try process.readLine() == "ready" else { throw Failure("a reader is not ready") }
    }
  }

  /// Nanoseconds of processor time a get, on average.
  func readTogether() throws -> Double {
    for process in processes { try process.send("go") }
    var sum = 0.0
    for process in processes {
      guard let picoseconds = Double(try process.readLine()) else { throw Failure("a reader gave no number") }
      sum += picoseconds / 1000
    }
    return sum / Double(processes.count)
  }
}

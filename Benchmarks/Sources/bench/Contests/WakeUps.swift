import Dispatch
import Glibc
import SharedTable

/// How long it takes until somebody who sleeps knows of a commit, beside the same over pipes.
///
/// Two processes take turns: this one says something and sleeps until the other one, which slept until then, has answered.
/// A round trip is two wake-ups and, for tables, two commits and two looks at a key. Who waits for it sleeps in the
/// kernel at once, as who reads from a pipe does: nobody spins.
func wakeUpContest() throws -> Contest {
  let workload = Workload(keyCount: 1000)
  let trips = 25
  let pipe = try Partner("pipe", OurTable(workload))
  func over(_ name: String, _ role: String, _ variant: Table.Variant) throws -> Contestant {
    let partner = try Partner(role, OurTable(workload, variant: variant))
    return Contestant(name) { _ in
      for _ in 0..<trips { try partner.roundTripOverTable() }
      return trips
    }
  }
  return Contest(
    name: "wake-up",
    work: "a round trip between two processes, each of which sleeps until the other has said something",
    reference: "pipe",
    contestants: [
      Contestant("pipe") { _ in
        for _ in 0..<trips { try pipe.roundTripOverPipe() }
        return trips
      },
      try over("waitUntil", "wait", .rcu), try over("waitUntil, rwlock variant", "wait", .rwlock),
      try over("changes, in a task", "changes", .rcu),
    ])
}

/// A process that answers, asleep for as long as it is not asked.
private final class Partner {
  private let process: ChildProcess
  private let ours: OurTable
  private var number = 0

  init(_ role: String, _ ours: OurTable) throws {
    self.ours = ours
    try ours.table.set("ping", 0)
    try ours.table.set("pong", 0)
    process = try ChildProcess(ownPath, ["worker", "partner-\(role)", ours.table.name, "0"])
    guard try process.readLine() == "ready" else { throw Failure("the partner is not ready") }
    try process.send("go")
    // So that nothing that is said later is read along with that line.
    guard try process.readLine() == "going" else { throw Failure("the partner does not begin") }
  }

  func roundTripOverTable() throws {
    number += 1
    let number = number
    try ours.table.set("ping", number)
    _ = try ours.table.waitUntil("pong", as: Int.self, timeout: .seconds(10)) { $0 == number }
  }

  func roundTripOverPipe() throws {
    var byte: UInt8 = 1
    try process.write(&byte)
    try process.read(&byte)
  }
}

/// The other side, until this process is killed: what a worker with the role `partner-pipe`, `-wait` or `-changes` does.
func answerAsPartner(_ role: String, _ table: Table) throws {
  let changes = table.changes(forKey: "ping")
  answer("going")
  switch role {
  case "partner-pipe":
    var byte: UInt8 = 0
    while read(STDIN_FILENO, &byte, 1) == 1 { _ = write(STDOUT_FILENO, &byte, 1) }
  case "partner-wait":
    var number = 0
    while true {
      let last = number
      do {
        number = try table.waitUntil("ping", as: Int.self, timeout: .seconds(3600)) { $0 != last && $0 != 0 } ?? last
        try table.set("pong", number)
      } catch let error as TableError where error.code == .timedOut {}
    }
  default:
    let failure = DispatchSemaphore(value: 0)
    Task.detached {
      for try await change in changes where change.key != nil {
        try await table.set("pong", try table.get("ping", as: Int.self) ?? 0)
      }
      failure.signal()
    }
    failure.wait()
    throw Failure("there are no more changes")
  }
}

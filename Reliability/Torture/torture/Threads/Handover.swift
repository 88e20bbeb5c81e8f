import Glibc
import SharedTable
import Synchronization
import TestSupport

/// A reader and a writer that take turns by a relaxed flag: it puts their steps in time, and tells the sanitizer nothing.
/// What orders them for it is the engine alone, so that a missing order is seen at once, however threads are scheduled.
///
/// The reader's section stays open while a newer version of its key is published, and meets it on its way to its own.
/// Then it leaves, and the writer has gc free what it read, and writes there.
@Sendable func handover(_ run: Run) throws {
  try withTableName { (name: String) throws -> Void in
    let table = try Table.create(name, .init(capacityBytes: 4 << 20), timeout: .seconds(60))
    let rounds = run.bounded(100, long: 5_000)
    let turns = Turns()
    let crew = Crew(seed: run.seed)
    crew.start("sections", 1) { _ in
      for round in 0..<rounds {
        try turns.take(4 * round) { if round == 0 { try table.set("key", value(0)) } }
        try table.read { view in
          let before = try view.get("key", as: [UInt8].self)
          turns.pass(4 * round + 1)
          try turns.take(4 * round + 2) {
            if try view.get("key", as: [UInt8].self) != before { throw ThreadRoles.Broken(description: "two versions") }
          }
        }
        turns.pass(4 * round + 3)
      }
    }
    crew.start("barriers", 1) { _ in
      for round in 0..<rounds {
        try turns.take(4 * round + 1) { try table.set("key", value(round + 1)) }
        turns.pass(4 * round + 2)
        try turns.take(4 * round + 3) {
          _ = try table.administration.maintain()
          for index in 0..<24 { try table.set("other \(index)", value(round)) }
        }
        turns.pass(4 * round + 4)
      }
    }
    crew.join()
    for failure in crew.failures { try run.expect(false, failure) }
    run.row("turns", grouped(rounds * 25), grouped(rounds), "–", "–", "–", "–")
  }
}

private func value(_ round: Int) -> [UInt8] { [UInt8](repeating: UInt8(round & 0xff), count: 100) }

private final class Turns: Sendable {
  private let turn = Atomic(0)

  /// Waits for the turn. Nobody waits for one whose owner has failed: the processes' time would be over.
  func take(_ number: Int, _ body: () throws -> Void) throws {
    var waited = 0
    while turn.load(ordering: .relaxed) < number {
      // Asleep, because a thread that spins fills the history that the sanitizer needs for its report.
      usleep(200)
      waited += 1
      if waited == 500_000 { throw ThreadRoles.Broken(description: "turn \(number) never came") }
    }
    try body()
  }

  func pass(_ number: Int) { turn.store(number, ordering: .relaxed) }
}

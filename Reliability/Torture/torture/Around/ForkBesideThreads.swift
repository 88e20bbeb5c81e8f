import Glibc
import SharedTable
import Synchronization

/// fork() while other threads of the process open and close tables, read and write.
///
/// What a thread is initializing of Swift's runtime at the moment of a fork (a type's metadata, a conformance, a lazy
/// global) the child waits for in vain, and no library can help it. So nothing is done for the first time beside a
/// fork: the threads have made many rounds before the first one, and stand still for the first few, after which they
/// meet what dead children leave.
enum ForkBesideThreads {
  private static let roundsBefore = 200
  private static let forksAlone = 10

  static func run(table name: String, forks: Int) throws -> String {
    let crowd = (0..<3).map { number in
      Rounds {
        let table = number == 0 ? try Table.open(name, access: .participant) : try Table.shared(name)
        if number == 1 { Table.forgetShared(name) }
        try table.set("thread\(number)", number)
        guard try table.get("thread\(number)", as: Int.self) == number else { throw Unavailable("read another value") }
        if number == 2, table.variant == .rcu { _ = try table.snapshot().version }
      }
    }
    defer { for thread in crowd { thread.end() } }
    let inherited = try Table.open(name, access: .participant)
    for thread in crowd { thread.pass(roundsBefore) }
    for number in 0..<forksAlone {
      let said = try pausing(crowd[...]) { try child(number, of: name, inherited) }
      if said != "ok" { return "child \(number) alone: \(said)" }
      for thread in crowd { thread.pass(2) }
    }
    for number in 0..<forks {
      let said = try child(number, of: name, inherited)
      if said != "ok" { return "child \(number): \(said)" }
    }
    return crowd.lazy.compactMap(\.failure).first ?? "ok"
  }

  private static func pausing(_ crowd: ArraySlice<Rounds>, _ body: () throws -> String) rethrows -> String {
    guard let first = crowd.first else { return try body() }
    return try first.pausing { try pausing(crowd.dropFirst(), body) }
  }

  private static func child(_ number: Int, of name: String, _ inherited: Table) throws -> String {
    try Neighbour().forked {
      let refused = described { try inherited.get("child") ?? "nil" }
      guard refused.hasPrefix("error forked") else { return "not refused: \(refused)" }
      let table = try Table.open(name, access: .participant)
      try table.set("child", number)
      guard try table.get("child", as: Int.self) == number else { return "read another value" }
      let shared = try Table.shared(name)
      if shared.variant == .rwlock { return try shared.get("child", as: Int.self) == number ? "ok" : "another value" }
      return try shared.snapshot().get("child", as: Int.self) == number ? "ok" : "another snapshot"
    }
  }
}

/// A thread that does the same thing again and again until it is told to end, or fails.
private final class Rounds: Sendable {
  private struct State {
    var rounds = 0
    var ends = false
    var failure: String?
  }
  private let state = Mutex(State())
  private let turn = Mutex(())
  private let thread = Mutex<pthread_t?>(nil)

  init(_ body: @escaping @Sendable () throws -> Void) {
    let started = Crowd.start { [self] in
      var goesOn = true
      while goesOn {
        let said = turn.withLock { _ in
          described {
            try body()
            return "ok"
          }
        }
        goesOn = state.withLock { state in
          state.rounds += 1
          if said != "ok" { state.failure = said }
          return said == "ok" && !state.ends
        }
      }
    }
    thread.withLock { $0 = started }
  }

  var failure: String? { state.withLock { $0.failure } }

  /// Waits until so many more rounds are done, or the thread has failed.
  func pass(_ rounds: Int) {
    let goal = state.withLock { $0.rounds } + rounds
    while state.withLock({ $0.rounds < goal && $0.failure == nil }) { sched_yield() }
  }

  /// Runs `body` between two rounds.
  func pausing(_ body: () throws -> String) rethrows -> String { try turn.withLock { _ in try body() } }

  func end() {
    state.withLock { $0.ends = true }
    if let thread = thread.withLock({ $0 }) { pthread_join(thread, nil) }
  }
}

import Glibc
import SharedTable
import Synchronization
import TestSupport

/// All roles at once on one table of one process. Without a sanitizer this shows what its assertions show; the thread
/// sanitizer sees both ends of every pair of Models/README.md that two threads of a process can form.
func protocolThreads(_ run: Run, _ variant: Table.Variant) throws {
  try withTableName { (name: String) throws -> Void in
    let options = Table.Options(variant: variant, capacityBytes: 16 << 20, limboBudgetBytes: 300 << 10)
    let table = try Table.create(name, options, timeout: .seconds(60))
    let roles = try ThreadRoles(table)
    let rounds = run.bounded(2_000, long: 60_000)
    let crew = Crew(seed: run.seed)
    for _ in 0..<2 {
      crew.start("barriers", rounds) { try roles.transfer(&$0) }
      crew.start("sections", rounds) { try roles.read(&$0) }
    }
    crew.start("barriers", rounds) { try roles.churn(&$0) }
    crew.start("observed", rounds) { try roles.observe(&$0) }
    crew.start("maintained", rounds / 4) { try roles.maintain(&$0) }
    crew.start("opened", rounds / 8) { try roles.open(&$0) }
    if variant == .rcu { for _ in 0..<2 { crew.start("snapshots", rounds / 8) { try roles.holdSnapshot(&$0) } } }
    // Each claims a slot, uses it once and ends.
    for _ in 0..<(rounds / 16) { crew.runToEnd("slots") { try roles.read(&$0) } }
    crew.join()
    for failure in crew.failures { try run.expect(false, "\(variant): \(failure)") }
    let problems = try table.check()
    try run.expect(problems.isEmpty, "\(variant): \(problems.joined(separator: "; "))")
    let counts = ["barriers", "sections", "snapshots", "observed", "opened", "slots"].map { grouped(crew.count($0)) }
    run.row("\(variant)", counts[0], counts[1], counts[2], counts[3], counts[4], counts[5])
  }
}

/// `Table.shared` looks handles up without a lock, while others replace the dictionary and let handles go (liburcu).
@Sendable func sharedHandles(_ run: Run) throws {
  try withTableName { (name: String) throws -> Void in
    try Table.create(name, .init(capacityBytes: 1 << 20)).set("key", 1)
    let crew = Crew(seed: run.seed)
    let rounds = run.bounded(2_000, long: 100_000)
    for _ in 0..<3 {
      crew.start("sections", rounds) { _ in
        if try Table.shared(name).get("key", as: Int.self) != 1 { throw ThreadRoles.Broken(description: "no value") }
      }
    }
    crew.start("opened", rounds / 8) { _ in Table.forgetShared(name) }
    crew.join()
    Table.forgetShared(name)
    for failure in crew.failures { try run.expect(false, failure) }
    run.row("shared handles", "–", grouped(crew.count("sections")), "–", "–", grouped(crew.count("opened")), "–")
  }
}

/// Threads, what they counted, and what went wrong in them.
final class Crew: Sendable {
  private struct State {
    var threads: [UInt] = []
    var counts: [String: Int] = [:]
    var failures: [String] = []
    var seed: UInt64
  }

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(seed: seed)) }

  var failures: [String] { state.withLock { $0.failures } }
  func count(_ what: String) -> Int { state.withLock { $0.counts[what] ?? 0 } }

  /// A thread that does `step` so often, or until it fails.
  func start(_ what: String, _ rounds: Int, _ step: @escaping @Sendable (inout SplitMix) throws -> Void) {
    let thread = spawn(what, rounds, step)
    state.withLock { $0.threads.append(UInt(thread)) }
  }

  func runToEnd(_ what: String, _ step: @escaping @Sendable (inout SplitMix) throws -> Void) {
    pthread_join(spawn(what, 1, step), nil)
  }

  func join() {
    for thread in state.withLock({ $0.threads }) { pthread_join(pthread_t(thread), nil) }
  }

  private func spawn(
    _ what: String, _ rounds: Int, _ step: @escaping @Sendable (inout SplitMix) throws -> Void
  ) -> pthread_t {
    let seed = state.withLock { state in
      state.seed &+= 0x9e37_79b9
      return state.seed
    }
    return startThread {
      var generator = SplitMix(seed: seed)
      var done = 0
      do {
        while done < rounds {
          try step(&generator)
          done += 1
        }
      } catch {
        self.state.withLock { $0.failures.append("\(what), round \(done): \(error)") }
      }
      self.state.withLock { $0.counts[what, default: 0] += done }
    }
  }
}

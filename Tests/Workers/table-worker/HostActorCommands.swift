// What a worker does with a host actor over the table it has open.

import Dispatch
import SharedTable
import Synchronization

private actor Twins: HostActor {
  nonisolated let hostExecutor: HostExecutor
  let first: HostState<Int>
  let second: HostState<Int>

  init() throws {
    hostExecutor = HostExecutor(in: table, timeout: .seconds(600))
    first = try HostState("first", in: hostExecutor, default: 0)
    second = try HostState("second", in: hostExecutor, default: 0)
  }

  /// Between two jobs, and within one, both are equal.
  func step() throws -> Bool {
    let before = try first.value
    try first += 1
    let wereEqual = try second.value == before
    try second.set(before + 1)
    return wereEqual
  }
}

private final class Failures: Sendable {
  private let texts = Mutex<[String]>([])

  func add(_ text: String) { texts.withLock { $0.append(text) } }
  var first: String? { texts.withLock { $0.first } }
}

/// Nil for a command that is not one of these.
func hostActorAnswer(_ words: [String]) throws -> String? {
  switch words[0] {
  // host-steps TASKS STEPS: says `step` for each hundredth.
  case "host-steps":
    let (tasks, steps) = (Int(words[1])!, Int(words[2])!)
    let twins = try Twins()
    let done = DispatchSemaphore(value: 0)
    let failures = Failures()
    Task {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<tasks {
          group.addTask {
            for step in 1...steps {
              do {
                if try await !twins.step() { failures.add("unequal") }
              } catch {
                failures.add("\(error)")
              }
              if step % 100 == 0 { say("step") }
            }
          }
        }
      }
      do { try await twins.hostExecutor.flush() } catch { failures.add("\(error)") }
      done.signal()
    }
    done.wait()
    return failures.first ?? "ok"
  default: return nil
  }
}

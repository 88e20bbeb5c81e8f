// What a worker does with a host actor over the table it has open.

import Dispatch
import Glibc
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

  func readInChild() -> String {
    forked {
      alarm(60)
      return outcome { "\(try first.value)" }
    }
  }
}

private final class Failures: Sendable {
  private let texts = Mutex<[String]>([])

  func add(_ text: String) { texts.withLock { $0.append(text) } }
  var first: String? { texts.withLock { $0.first } }
  var all: [String] { texts.withLock { $0 } }
}

@globalActor private actor Everywhere: HostActor {
  static let shared = Everywhere()
  nonisolated let hostExecutor = HostExecutor(in: table)
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
  // host-fork: in a child, a job makes another one.
  case "host-fork":
    _ = Everywhere.shared
    return forked {
      // In case that it waits for ever.
      alarm(60)
      let notes = Failures()
      Task { @Everywhere in
        Task { @Everywhere in notes.add("2") }
        notes.add("1")
      }
      return notes.all.joined()
    }
  // host-fork-job: as it forks, another thread is in a job that runs without the table.
  case "host-fork-job":
    opened = try Table.open(table.name, access: .observer)
    let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Task { @Everywhere in
      begun.signal()
      goOn.wait()
    }
    begun.wait()
    defer { goOn.signal() }
    return forked {
      alarm(60)
      let notes = Failures()
      Task { @Everywhere in notes.add("1") }
      return notes.all.joined()
    }
  // host-fork-inside: in a child that a job without the table made, that job reads its state.
  case "host-fork-inside":
    opened = try Table.open(table.name, access: .observer)
    let twins = try Twins()
    let done = DispatchSemaphore(value: 0)
    let said = Failures()
    Task {
      said.add(await twins.readInChild())
      done.signal()
    }
    done.wait()
    return said.first!
  default: return nil
  }
}

import Glibc
import SharedTable
import Synchronization
import TestSupport

/// Threads of this process, many of them. POSIX threads: Dispatch would limit their number.
enum Crowd {
  /// Runs `threads` threads, at most `atOnce` at a time, each of which reads and writes a little and ends.
  static func comeAndGo(_ table: Table, threads: Int, atOnce: Int) throws -> String {
    let failure = Shared<String?>(nil)
    var left = threads
    while left > 0 {
      let batch = (0..<min(left, atOnce)).map { number in
        start {
          let said = described {
            let name = "thread\(number)"
            try table.set(name, number)
            let got = try table.get(name, as: Int.self)
            let inside = try table.read { view in try view.get(name, as: Int.self) }
            return got == number && inside == number ? "ok" : "read \(got ?? -1) and \(inside ?? -1)"
          }
          if said != "ok" { failure.withLock { $0 = said } }
        }
      }
      for thread in batch { pthread_join(thread, nil) }
      left -= batch.count
    }
    return failure.withLock { $0 } ?? "ok"
  }

  private static let gate = Gate()

  /// Makes threads that use the table, each for the first time, and then wait.
  /// - Returns: how many of them could, and what the first other one was told.
  static func occupy(_ table: Table, threads: Int) throws -> String {
    let result = Shared<(entered: Int, refusal: String)>((0, "none"))
    let all = Gate()
    for _ in 0..<threads {
      pthread_detach(
        start {
          let said = described { "\(try table.contains("k"))" }
          result.withLock { result in
            if said.hasPrefix("error") { result.refusal = said } else { result.entered += 1 }
          }
          all.open(1)
          if !said.hasPrefix("error") { gate.pass() }
        })
    }
    for _ in 0..<threads { all.pass() }
    return result.withLock { "\($0.entered) \($0.refusal)" }
  }

  /// Lets so many of the waiting threads end.
  static func release(_ count: Int) -> String {
    gate.open(count)
    return "ok"
  }

  static func inNewThread(_ body: () -> String) -> String {
    let answer = Shared("")
    withoutActuallyEscaping(body) { body in
      nonisolated(unsafe) let body = body
      pthread_join(start { answer.withLock { $0 = body() } }, nil)
    }
    return answer.withLock { $0 }
  }

  static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    startThread(stackBytes: 256 << 10, body)
  }
}

/// A value that several threads change.
final class Shared<Value>: Sendable {
  private let mutex: Mutex<Value>
  init(_ value: sending Value) { mutex = Mutex(value) }
  func withLock<R>(_ body: (inout sending Value) -> sending R) -> R { mutex.withLock(body) }
}

/// A counting semaphore (sem_init(3)).
final class Gate: @unchecked Sendable {
  // Sendable because a semaphore is made for several threads, and its address never changes.
  private let place = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  init() { sem_init(place, 0, 0) }
  deinit {
    sem_destroy(place)
    place.deallocate()
  }
  func open(_ count: Int) { for _ in 0..<count { sem_post(place) } }
  func pass() { while sem_wait(place) != 0 {} }
}

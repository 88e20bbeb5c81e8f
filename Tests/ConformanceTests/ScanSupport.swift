import Dispatch
import Glibc
import SharedTable
import Synchronization
import Testing

/// Threads that wait for each other at the first thing that each of them does.
final class Meeting: Sendable {
  private let expected: Int
  private let arrived = Locked<Set<pthread_t>>([])
  private let isComplete = DispatchSemaphore(value: 0)
  private let departed = Locked(0)
  private let allLeave = DispatchSemaphore(value: 0)

  init(_ expected: Int) { self.expected = expected }

  /// - Returns: whether this is the first time that the calling thread is here.
  @discardableResult
  func arrive() -> Bool {
    let (isNew, count) = arrived.withLock { threads in (threads.insert(pthread_self()).inserted, threads.count) }
    guard isNew else { return false }
    if count == expected {
      for _ in 1..<expected { isComplete.signal() }
    } else if count < expected {
      #expect(isComplete.wait(timeout: .now() + 30) == .success, "only \(count) threads came")
    }
    return true
  }

  /// Waits until all that met are here.
  func depart() {
    let count = departed.withLock { count in
      count += 1
      return count
    }
    if count == expected {
      for _ in 1..<expected { allLeave.signal() }
    } else {
      #expect(allLeave.wait(timeout: .now() + 30) == .success, "only \(count) threads left")
    }
  }

  var count: Int { arrived.withLock { $0.count } }
}

/// What several threads saw: how often each key, and with which value.
final class Sightings: Sendable {
  private let seen = Locked<[String: [Int?]]>([:])

  @discardableResult
  func add(_ key: RawSpan, _ entry: borrowing EntryView) -> Int {
    let name = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    let value = entry.value(as: Int.self)
    return seen.withLock { seen in
      seen[name, default: []].append(value)
      return seen.count
    }
  }

  /// Each key of the reference once, with its value, and no other.
  func expect(_ reference: [String: Int], sourceLocation: SourceLocation = #_sourceLocation) {
    let seen = seen.withLock { $0 }
    let wrong = seen.filter { key, values in values != [reference[key]] || reference[key] == nil }
    #expect(wrong.isEmpty, "\(wrong.prefix(5))", sourceLocation: sourceLocation)
    #expect(seen.count == reference.count, sourceLocation: sourceLocation)
  }
}

/// Runs `work` in a thread beside `body`, and joins it.
func beside(_ work: @escaping @Sendable () throws -> Void, _ body: () throws -> Void) throws {
  let queue = DispatchQueue(label: "beside")
  let failure = Locked<(any Error)?>(nil)
  queue.async {
    do { try work() } catch { failure.withLock { $0 = error } }
  }
  defer { queue.sync {} }
  try body()
  queue.sync {}
  if let failure = failure.withLock({ $0 }) { throw failure }
}

/// Keys with the prefix, each with its number as value; all in one barrier.
func fill(_ table: Table, _ prefix: String, _ count: Int) throws -> [String: Int] {
  var reference: [String: Int] = [:]
  try table.barrier { tx throws in
    for index in 0..<count {
      try tx.set("\(prefix)\(index)", index)
      reference["\(prefix)\(index)"] = index
    }
  }
  return reference
}

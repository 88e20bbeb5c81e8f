import Dispatch
import Foundation
import Synchronization

/// What one process does without us: a Swift dictionary behind a lock or a queue. Values are copied out inside.
final class GuardedDictionary: @unchecked Sendable {
  // Sendable because every access goes through the guard that the caller names.
  private var values: [Key: [UInt8]] = [:]
  private let workload: Workload

  init(_ workload: Workload) {
    self.workload = workload
    values.reserveCapacity(workload.keyCount)
    for index in 0..<workload.keyCount {
      // An array of its own each, as values that come from somewhere are.
      values[Key(at: workload.keys.baseAddress! + index * Workload.keyBytes)] = Array(workload.value[...])
    }
  }

  @inline(__always)
  func copyOut(_ key: Key, to buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let value = values[key] else { return 0 }
    value.withUnsafeBytes { buffer.copyMemory(from: $0) }
    return value.count
  }

  @inline(__always)
  func overwrite(_ key: Key) { values[key] = Array(workload.value[...]) }
}

/// How a dictionary is guarded.
protocol Guard: Sendable {
  func read<R: Sendable>(_ body: () -> R) -> R
  func write(_ body: () -> Void)
}

/// The classic: concurrent reads, a barrier for each write.
struct BarrierQueueGuard: Guard {
  private let queue = DispatchQueue(label: "bench.barrier", attributes: .concurrent)
  func read<R: Sendable>(_ body: () -> R) -> R { queue.sync(execute: body) }
  func write(_ body: () -> Void) { queue.sync(flags: .barrier, execute: body) }
}

struct SerialQueueGuard: Guard {
  private let queue = DispatchQueue(label: "bench.serial")
  func read<R: Sendable>(_ body: () -> R) -> R { queue.sync(execute: body) }
  func write(_ body: () -> Void) { queue.sync(execute: body) }
}

final class MutexGuard: Guard {
  private let mutex = Mutex(())
  func read<R: Sendable>(_ body: () -> R) -> R { mutex.withLock { _ in body() } }
  func write(_ body: () -> Void) { mutex.withLock { _ in body() } }
}

/// A recursive lock: what `@synchronized` takes.
final class RecursiveLockGuard: Guard, @unchecked Sendable {
  // Sendable because NSRecursiveLock is safe to use from any thread.
  private let lock = NSRecursiveLock()
  func read<R: Sendable>(_ body: () -> R) -> R {
    lock.lock()
    defer { lock.unlock() }
    return body()
  }
  func write(_ body: () -> Void) {
    lock.lock()
    defer { lock.unlock() }
    body()
  }
}

extension GuardedDictionary {
  func get(_ number: Int, _ guardian: some Guard, _ workload: Workload) throws -> Int {
    let count = Workload.roundLookups / 4
    var (key, bytes) = workload.round(number, count)
    let buffer = Workload.buffer
    var sum = 0
    for _ in 0..<count {
      let wanted = Key(at: key)
      sum &+= guardian.read { copyOut(wanted, to: buffer) }
      key += Workload.keyBytes
    }
    guard sum == bytes else { throw Failure("\(sum) bytes were found, not \(bytes)") }
    return count
  }
}

/// A thread of this process that overwrites values for as long as a round lasts.
final class NonstopThread: Surroundings, @unchecked Sendable {
  // Sendable because what changes is atomic, and the closure is Sendable.
  private let isOn = Atomic(false)
  private let isOver = Atomic(false)
  private let pause = DispatchSemaphore(value: 0)
  private let stopped = DispatchSemaphore(value: 0)

  init(_ write: @escaping @Sendable (Int) -> Void) {
    Thread.detachNewThread { [self] in
      var number = 0
      while true {
        pause.wait()
        if isOver.load(ordering: .acquiring) { return }
        while isOn.load(ordering: .relaxed) {
          write(number)
          number &+= 1
        }
        stopped.signal()
      }
    }
  }

  func begin() {
    isOn.store(true, ordering: .relaxed)
    pause.signal()
  }

  func end() {
    isOn.store(false, ordering: .relaxed)
    stopped.wait()
  }

  func finish() {
    isOver.store(true, ordering: .releasing)
    pause.signal()
  }
}

import Glibc
import SharedTable

/// A table of ours, loaded; removed when this object goes.
///
/// Before a loop that is measured, its contestant binds the value and the buffer to constants of its own, as the peers' loops in C do. To
/// load the value anew in each turn of the loop, retain it and release it took some 5 ns of a `set`.
final class OurTable {
  let table: Table
  let observer: Table
  private let workload: Workload

  init(_ workload: Workload, variant: Table.Variant = .rcu) throws {
    self.workload = workload
    let capacity = (16 << 20) + workload.keyCount * (workload.value.count + 160)
    let name = "bench-\(getpid())-\(Self.number)"
    Self.number += 1
    table = try Table.create(name, Table.Options(variant: variant, capacityBytes: capacity))
    observer = try Table.open(name, access: .observer)
    for start in stride(from: 0, to: workload.keyCount, by: 1000) {
      try table.barrier { tx in
        for index in start..<min(start + 1000, workload.keyCount) {
          try tx.set(Key(at: workload.keys.baseAddress! + index * Workload.keyBytes), workload.value)
        }
      }
    }
  }

  nonisolated(unsafe) private static var number = 0

  deinit { try? Table.drop(table.name) }

  /// Copies `count` values out, one get each, and checks that they were found.
  func get(_ number: Int, from table: Table, count: Int = Workload.roundLookups) throws -> Int {
    var (key, bytes) = workload.round(number, count)
    let buffer = Workload.buffer
    var sum = 0
    for _ in 0..<count {
      let bytes = UnsafeRawBufferPointer(start: key, count: Workload.keyBytes)
      sum &+= try table.get(bytes, into: buffer) ?? 0
      key += Workload.keyBytes
    }
    guard sum == bytes else { throw Failure("\(sum) bytes were found, not \(bytes)") }
    return count
  }

  /// The same as arrays of bytes.
  func getArrays(_ number: Int) throws -> Int {
    var (key, bytes) = workload.round(number)
    var sum = 0
    for _ in 0..<Workload.roundLookups {
      sum &+= try table.bytes(forKey: Key(at: key))?.count ?? 0
      key += Workload.keyBytes
    }
    guard sum == bytes else { throw Failure("\(sum) bytes were found, not \(bytes)") }
    return Workload.roundLookups
  }

  /// Copies values out, `batch` in a call.
  func getMany(_ number: Int, batch: Int) throws -> Int {
    var (key, bytes) = workload.round(number)
    let (buffer, stride) = (Workload.buffer, workload.value.count)
    var sum = 0
    try withUnsafeTemporaryAllocation(of: Int.self, capacity: batch) { lengths in
      for _ in 0..<(Workload.roundLookups / batch) {
        try table.get(
          keys: UnsafeRawBufferPointer(start: key, count: batch * Workload.keyBytes), keyLength: Workload.keyBytes,
          into: buffer, stride: stride, lengths: lengths)
        for length in lengths { sum &+= max(0, length) }
        key += batch * Workload.keyBytes
      }
    }
    guard sum == bytes else { throw Failure("\(sum) bytes were found, not \(bytes)") }
    return Workload.roundLookups
  }

  /// Looks at values in place, `batch` in a section.
  func look(_ number: Int, batch: Int) throws -> Int {
    var (key, bytes) = workload.round(number)
    var sum = 0
    for _ in 0..<(Workload.roundLookups / batch) {
      try table.read { view in
        for _ in 0..<batch {
          if let span = try view.bytes(forKey: Key(at: key)) { sum &+= span.byteCount }
          key += Workload.keyBytes
        }
      }
    }
    guard sum == bytes else { throw Failure("\(sum) bytes were found, not \(bytes)") }
    return Workload.roundLookups
  }

  /// Overwrites `count` values, `batch` in a barrier.
  func set(_ number: Int, count: Int, batch: Int) throws -> Int {
    var key = workload.round(number, count).keys
    let (table, value) = (table, workload.value)
    for _ in 0..<(count / batch) {
      if batch == 1 {
        try table.set(Key(at: key), value)
        key += Workload.keyBytes
        continue
      }
      try table.barrier { tx in
        for _ in 0..<batch {
          try tx.set(Key(at: key), value)
          key += Workload.keyBytes
        }
      }
    }
    return count / batch * batch
  }
}

/// A process that overwrites or reads values for as long as a round lasts.
final class Companion: Surroundings {
  private let process: ChildProcess

  init(_ role: String, _ ours: OurTable, keyCount: Int) throws {
    process = try ChildProcess(ownPath, ["worker", role, ours.table.name, "\(keyCount)"])
    guard try process.readLine() == "ready" else { throw Failure("the \(role) process is not ready") }
  }

  func begin() throws {
    try process.send("go")
    guard try process.readLine() == "going" else { throw Failure("process \(process.pid) does not begin") }
  }

  func end() throws {
    try process.send("stop")
    guard try process.readLine() == "stopped" else { throw Failure("process \(process.pid) does not stop") }
  }
}

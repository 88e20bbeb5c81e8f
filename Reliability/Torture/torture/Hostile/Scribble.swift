import CShims
import Glibc
import SharedMemory
import SharedTable
import TableEngine
import TestSupport

/// A process that may write the data object, and obeys no protocol, stores whatever it likes wherever it likes, while
/// observers read: errors or values, and nothing else.
///
/// The fuzzer changes words between reads; here they change between any two loads of one.
@Sendable func scribble(_ run: Run) throws {
  for variant in Table.Variant.allCases {
    try withTableName { (name: String) throws -> Void in
      let table = try Table.create(name, .init(variant: variant, capacityBytes: 4 << 20))
      try fill(table)
      let scribbler = try startWorker("scribbler", [name, "\(run.seed)"], timeoutSeconds: run.bounded(120, long: 3600))
      try scribbler.expectLine("scribbling")
      let rounds = run.bounded(30_000, long: 3_000_000)
      let observers = try (0..<2).map { index in
        try startWorker(
          "scribbled-on", [name, "\(rounds)", "\(run.seed + UInt64(index))"],
          timeoutSeconds: run.bounded(120, long: 3600))
      }
      var (values, errors) = (0, 0)
      for observer in observers {
        do {
          let answer = try observer.readLine().split(separator: " ").compactMap { Int($0) }
          (values, errors) = (values + answer[0], errors + answer[1])
          try observer.finish()
        } catch {
          try run.expect(false, "\(variant): an observer ended: \(error)")
        }
      }
      try scribbler.killAndWait()
      try run.expect(values > 0 && errors > 0, "\(variant): \(values) values and \(errors) errors show nothing")
      run.row("\(variant), scribbled on", grouped(values + errors), grouped(errors), "–", "–")
    }
  }
}

private let keys = (0..<64).map { "key \($0)" }

private func fill(_ table: Table) throws {
  for index in 0..<64 { try table.set(keys[index], [UInt8](repeating: 1, count: index * index)) }
  for index in 0..<2000 { try table.set("number \(index)", index) }
  guard table.variant == .rcu else { return }
  let snapshot = try table.snapshot()
  for index in 0..<64 { try table.set(keys[index], "next") }
  for index in 0..<64 where index % 4 == 0 { try table.remove(keys[index]) }
  _ = snapshot.version
}

/// Damages words and puts them back, a few at a time, until it is killed: observers shall find values too.
@Sendable func playScribbler(_ arguments: [String]) throws {
  let object = try SharedObject.open(name: "shmtable.\(arguments[0]).data", writable: true)
  let mapping = try object.map(count: try object.status().size, writable: true)
  let original = [UInt64](
    UnsafeRawBufferPointer(start: mapping.base, count: mapping.count).bindMemory(to: UInt64.self))
  let used = original.indices.filter { original[$0] != 0 }
  var generator = SplitMix(seed: UInt64(arguments[1])!)
  var damaged = [Int](repeating: 0, count: 8)
  say("scribbling")
  for step in 0... {
    shm_store_relaxed(mapping.base + damaged[step % 8] * 8, original[damaged[step % 8]])
    let word = used[generator.below(used.count)]
    damaged[step % 8] = word
    shm_store_relaxed(mapping.base + word * 8, scribbled(original, used, word, &generator))
    // Long enough for a read to get through between two of them now and then.
    for _ in 0..<generator.below(256) { shm_pause() }
  }
}

private func scribbled(_ original: [UInt64], _ used: [Int], _ word: Int, _ generator: inout SplitMix) -> UInt64 {
  let old = original[word]
  switch generator.below(6) {
  case 0: return generator.next()
  case 1: return old ^ 1 << (generator.next() % 64)
  case 2: return old &+ UInt64(generator.below(64)) &- 32
  case 3: return .max
  case 4: return old & ~0xffff_ffff | UInt64(generator.below(original.count * 8))
  default: return original[used[generator.below(used.count)]]
  }
}

/// Reads in every way an observer has, so many rounds, and says how many ended with a value and with an error.
@Sendable func playScribbledOn(_ arguments: [String]) throws {
  var generator = SplitMix(seed: UInt64(arguments[2])!)
  var (values, errors) = (0, 0)
  var table: Table?
  for round in 0..<Int(arguments[1])! {
    do throws(TableError) {
      if round % 16 == 0 { table = nil }
      if table == nil { table = try Table.open(arguments[0], access: .observer, timeout: .milliseconds(1)) }
      values += try observe(table!, generator.below(8), keys[generator.below(keys.count)])
    } catch {
      errors += 1
    }
  }
  say("\(values) \(errors)")
}

/// - Returns: how many values were read.
private func observe(_ table: Table, _ way: Int, _ key: String) throws(TableError) -> Int {
  let bound = table.capacityBytes + 1 << 20
  switch way {
  case 0:
    _ = table.count
    _ = table.statistics
    return 1
  case 1: return try section(table, key, bound)
  case 2:
    _ = try table.get("number \(key.utf8.count)", as: Int.self)
    return 1
  default:
    if let bytes = try table.bytes(forKey: key) { precondition(bytes.count <= bound, "a value longer than the table") }
    return 1
  }
}

private func section(_ table: Table, _ key: String, _ bound: Int) throws(TableError) -> Int {
  do {
    return try table.read { view in
      _ = try view.get(key, as: String.self)
      var (count, bytes) = (0, 0)
      try view.forEach { key, entry in
        count += 1
        bytes += key.byteCount + entry.bytes.byteCount
      }
      precondition(bytes <= bound * 32, "values longer than the table")
      return count == 0 ? 0 : 1
    }
  } catch let error as TableError {
    throw error
  } catch {
    preconditionFailure("no typed error: \(error)")
  }
}

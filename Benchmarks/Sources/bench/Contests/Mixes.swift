import Dispatch
import SharedTable

/// Reads and writes by four threads of one process, `readsPerWrite` to one: the work that barrier queues are praised for.
func mixContest(readsPerWrite: Int, keyCount: Int = 10_000) throws -> Contest {
  let workload = Workload(keyCount: keyCount)
  let ours = try OurTable(workload)
  let locked = try OurTable(workload, variant: .rwlock)
  let dictionary = GuardedDictionary(workload)
  func mixed(_ name: String, _ guardian: some Guard) -> Contestant {
    Contestant(name) { number in
      try mix(number, workload, readsPerWrite) { key, buffer in
        guardian.read { dictionary.copyOut(key, to: buffer) }
      } write: { key in
        guardian.write { dictionary.overwrite(key) }
      }
    }
  }
  func mixed(_ name: String, _ table: Table) -> Contestant {
    let value = workload.value
    return Contestant(name) { number in
      try mix(number, workload, readsPerWrite) { key, buffer in
        key.withKeyBytes { (try? table.get($0, into: buffer)) ?? 0 }
      } write: { key in
        _ = try? table.set(key, value)
      }
    }
  }
  return Contest(
    name: "mix-\(readsPerWrite)-1", work: "\(readsPerWrite) reads to one write by four threads", reference: "Mutex",
    contestants: [
      mixed("rcu variant", ours.table), mixed("rwlock variant", locked.table), mixed("Mutex", MutexGuard()),
      mixed("recursive lock", RecursiveLockGuard()), mixed("GCD serial queue", SerialQueueGuard()),
      mixed("GCD barrier queue", BarrierQueueGuard()),
    ])
}

private func mix(
  _ number: Int, _ workload: Workload, _ readsPerWrite: Int,
  read: @escaping @Sendable (Key, UnsafeMutableRawBufferPointer) -> Int, write: @escaping @Sendable (Key) -> Void
) throws -> Int {
  let threads = 4
  let each = 5000
  let starts = (0..<threads).map { UInt(bitPattern: workload.round(number &* threads &+ $0, each).keys) }
  DispatchQueue.concurrentPerform(iterations: threads) { thread in
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 64)
    defer { buffer.deallocate() }
    var key = UnsafeRawPointer(bitPattern: starts[thread])!
    for operation in 0..<each {
      if operation % (readsPerWrite + 1) == readsPerWrite {
        write(Key(at: key))
      } else {
        _ = read(Key(at: key), buffer)
      }
      key += Workload.keyBytes
    }
  }
  return threads * each
}

import SharedTable

/// Single reads beside everybody's. `peers` false leaves the slow ones out, for bench-check.
func getContest(keyCount: Int, order: Workload.Order, valueBytes: Int, name: String, peers: Bool) throws -> Contest {
  let workload = Workload(keyCount: keyCount, valueBytes: valueBytes, order: order)
  let ours = try OurTable(workload)
  let locked = try OurTable(workload, variant: .rwlock)
  var contestants = [
    workload.floor().peer.contestant(workload),
    Contestant("participant") { number in try ours.get(number, from: ours.table) },
    Contestant("observer") { number in try ours.get(number, from: ours.observer) },
    Contestant("rwlock variant") { number in try locked.get(number, from: locked.table) },
    Contestant("as [UInt8]") { number in try ours.getArrays(number) },
    Contestant("in place") { number in try ours.look(number, batch: 1) },
    Contestant("multi-get of 32") { number in try ours.getMany(number, batch: 32) },
    Contestant("in place, ten a section") { number in try ours.look(number, batch: 10) },
  ]
  if keyCount >= 1_000_000 {
    let huge = try OurTable(workload)
    try huge.table.administration.backAllByHugePages()
    contestants.append(Contestant("participant, huge pages") { number in try huge.get(number, from: huge.table) })
  }
  contestants += workload.rculfhash().map { $0.contestant(workload) }
  let rte = workload.rteHash()
  contestants += [rte.single, rte.bulk].map { $0.contestant(workload) }
  contestants += try workload.lmdb().peers.map { $0.contestant(workload) }
  if valueBytes == 100 { contestants.append(try workload.boost().contestant(workload)) }
  contestants += dictionaries(workload)
  if peers {
    contestants += try workload.redis().peers.map { $0.contestant(workload) }
    contestants += try workload.memcached().map { $0.contestant(workload) }
  }
  return Contest(name: name, work: "one value copied out", reference: "floor", contestants: contestants)
}

private func dictionaries(_ workload: Workload) -> [Contestant] {
  let dictionary = GuardedDictionary(workload)
  let (barriers, serial, mutex, recursive) = (
    BarrierQueueGuard(), SerialQueueGuard(), MutexGuard(), RecursiveLockGuard()
  )
  return [
    Contestant("GCD barrier queue") { try dictionary.get($0, barriers, workload) },
    Contestant("GCD serial queue") { try dictionary.get($0, serial, workload) },
    Contestant("Mutex") { try dictionary.get($0, mutex, workload) },
    Contestant("recursive lock") { try dictionary.get($0, recursive, workload) },
  ]
}

/// The same reads while a writer on the other core never stops, beside the quiet floor.
func getUnderWriterContest(keyCount: Int, name: String) throws -> Contest {
  let workload = Workload(keyCount: keyCount)
  let ours = try OurTable(workload)
  let locked = try OurTable(workload, variant: .rwlock)
  let writer = try Companion("overwrite", ours, keyCount: keyCount)
  let lockedWriter = try Companion("overwrite", locked, keyCount: keyCount)
  let dictionary = GuardedDictionary(workload)
  let queue = BarrierQueueGuard()
  let thread = NonstopThread { number in
    let key = Key(at: workload.round(number &* 31, 1).keys)
    queue.write { dictionary.overwrite(key) }
  }
  return Contest(
    name: name, work: "one value copied out; a writer on the other core never stops, except beside the floor",
    reference: "floor",
    contestants: [
      workload.floor().peer.contestant(workload),
      Contestant("participant", beside: writer) { try ours.get($0, from: ours.table) },
      Contestant("observer", beside: writer) { try ours.get($0, from: ours.observer) },
      Contestant("rwlock variant", beside: lockedWriter) { try locked.get($0, from: locked.table, count: 2000) },
      Contestant("GCD barrier queue", beside: thread) { try dictionary.get($0, queue, workload) },
    ])
}

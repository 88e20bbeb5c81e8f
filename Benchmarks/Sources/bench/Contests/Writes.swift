import CPeers
import SharedTable

/// Overwriting single values and hundreds.
func setContest(keyCount: Int, name: String, peers: Bool) throws -> Contest {
  let workload = Workload(keyCount: keyCount)
  let ours = try OurTable(workload)
  let locked = try OurTable(workload, variant: .rwlock)
  let floor = workload.floor().table
  let lmdb = try workload.lmdb().table
  let reader = try Companion("read", ours, keyCount: keyCount)
  let buffer = workload.value
  var contestants = [
    Contestant("floor, in place") { number in
      let (keys, bytes) = workload.round(number, 5000)
      let written = floor_set_all(floor.pointer, keys, 5000, buffer)
      guard written == UInt64(bytes) else { throw Failure("the floor missed a key") }
      return 5000
    },
    Contestant("robust mutex, lock and unlock") { _ in
      robust_lock_pairs(20_000)
      return 20_000
    },
    Contestant("floor, in place under the mutex") { number in
      let (keys, bytes) = workload.round(number, 5000)
      let written = floor_set_all_locked(floor.pointer, keys, 5000, buffer)
      guard written == UInt64(bytes) else { throw Failure("the floor missed a key") }
      return 5000
    },
    Contestant("set") { try ours.set($0, count: 5000, batch: 1) },
    Contestant("set, a reader never stops", beside: reader) { try ours.set($0, count: 5000, batch: 1) },
    Contestant("barrier of 100 sets") { try ours.set($0, count: 5000, batch: 100) },
    Contestant("set, rwlock variant") { try locked.set($0, count: 5000, batch: 1) },
    Contestant("LMDB") { number in
      lmdb_set_all(lmdb.pointer, workload.round(number, 1000).keys, 1000, buffer, buffer.count, 1)
      return 1000
    },
    Contestant("LMDB, 100 a transaction") { number in
      lmdb_set_all(lmdb.pointer, workload.round(number, 5000).keys, 5000, buffer, buffer.count, 100)
      return 5000
    },
  ]
  if peers {
    let (_, client, server) = try workload.redis()
    contestants.append(
      Contestant("Redis") { number in
        withExtendedLifetime(server) {
          redis_set_all(client.pointer, workload.round(number, 400).keys, 400, buffer, buffer.count, 1)
        }
        return 400
      })
  }
  return Contest(
    name: name, work: "one value of 100 bytes overwritten", reference: "floor, in place", contestants: contestants)
}

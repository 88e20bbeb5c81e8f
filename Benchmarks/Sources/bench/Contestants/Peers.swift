import CPeers
import CxxPeers
import Glibc

/// One peer, loaded: what it takes to look up a run of keys. The closures keep it alive.
struct Peer {
  let name: String
  /// How many lookups a round of it has: a slow peer gets fewer.
  let roundLookups: Int
  let getAll: (_ keys: UnsafeRawPointer, _ count: Int) -> Int

  func contestant(_ workload: Workload) -> Contestant {
    Contestant(name) { number in
      let (keys, bytes) = workload.round(number, roundLookups)
      let sum = getAll(keys, roundLookups)
      guard sum == bytes else { throw Failure("\(name): \(sum) bytes were found, not \(bytes)") }
      return roundLookups
    }
  }
}

/// Frees what a C peer made.
final class Owned {
  let pointer: OpaquePointer
  private let free: (OpaquePointer) -> Void
  init(_ pointer: OpaquePointer, _ free: @escaping (OpaquePointer) -> Void = { _ in }) {
    self.pointer = pointer
    self.free = free
  }
  deinit { free(pointer) }
}

extension Workload {
  private func forEachKey(_ body: (UnsafeRawPointer) -> Void) {
    for index in 0..<keyCount { body(keys.baseAddress! + index * Self.keyBytes) }
  }

  func floor() -> (peer: Peer, table: Owned) {
    let table = Owned(floor_create(keyCount, value.count), floor_destroy)
    forEachKey { floor_put(table.pointer, $0, value) }
    let peer = Peer(name: "floor", roundLookups: Self.roundLookups) { keys, count in
      Int(floor_get_all(table.pointer, keys, count, Workload.buffer.baseAddress!))
    }
    return (peer, table)
  }

  /// liburcu's hash table in its three flavours. They have no end: threads stay registered.
  func rculfhash() -> [Peer] {
    let memb = urcu_memb_create(keyCount, value.count)
    let qsbr = urcu_qsbr_create(keyCount, value.count)
    let bp = urcu_bp_create(keyCount, value.count)
    forEachKey { key in
      urcu_memb_put(memb, key, value)
      urcu_qsbr_put(qsbr, key, value)
      urcu_bp_put(bp, key, value)
    }
    let count = Self.roundLookups
    return [
      Peer(name: "rculfhash memb", roundLookups: count) {
        Int(urcu_memb_get_all(memb, $0, $1, Workload.buffer.baseAddress!))
      },
      Peer(name: "rculfhash qsbr", roundLookups: count) {
        Int(urcu_qsbr_get_all(qsbr, $0, $1, Workload.buffer.baseAddress!))
      },
      Peer(name: "rculfhash bp", roundLookups: count) {
        Int(urcu_bp_get_all(bp, $0, $1, Workload.buffer.baseAddress!))
      },
    ]
  }

  func lmdb() throws -> (peers: [Peer], table: LMDBTable) {
    let table = try LMDBTable(capacityBytes: (64 << 20) + 3 * keyCount * (value.count + 200))
    lmdb_load(table.pointer, keys.baseAddress!, keyCount, value, value.count)
    let peers = [
      Peer(name: "LMDB", roundLookups: Self.roundLookups / 4) { keys, count in
        Int(lmdb_get_all(table.pointer, keys, count, Workload.buffer.baseAddress!, 1))
      },
      Peer(name: "LMDB, 1,000 a transaction", roundLookups: Self.roundLookups / 4) { keys, count in
        Int(lmdb_get_all(table.pointer, keys, count, Workload.buffer.baseAddress!, 1000))
      },
    ]
    return (peers, table)
  }

  /// Values of 100 bytes only.
  func boost() throws -> Peer {
    let name = "bench-boost-\(getpid())"
    guard let made = boost_create(name, (16 << 20) + keyCount * 256) else { throw Failure("Boost cannot make \(name)") }
    let table = Owned(made, boost_destroy)
    forEachKey { boost_put(table.pointer, $0, value) }
    return Peer(name: "Boost.Interprocess", roundLookups: Self.roundLookups / 4) { keys, count in
      Int(boost_get_all(table.pointer, keys, count, Workload.buffer.baseAddress!))
    }
  }

  func rteHash() -> (single: Peer, bulk: Peer) {
    let table = rte_create(keyCount, value.count)
    forEachKey { rte_put(table, $0, value) }
    let single = Peer(name: "rte_hash", roundLookups: Self.roundLookups) {
      Int(rte_get_all(table, $0, $1, Workload.buffer.baseAddress!))
    }
    let bulk = Peer(name: "rte_hash, bulks of 32", roundLookups: Self.roundLookups) {
      Int(rte_get_bulk(table, $0, $1, Workload.buffer.baseAddress!))
    }
    return (single, bulk)
  }
}

/// A database in a directory of its own on the tmpfs, removed with it.
final class LMDBTable {
  let pointer: OpaquePointer
  private let directory: String

  init(capacityBytes: Int) throws {
    directory = "/dev/shm/bench-lmdb-\(getpid())"
    guard mkdir(directory, 0o700) == 0 else { throw Failure("cannot make \(directory)") }
    pointer = lmdb_create(directory, capacityBytes)
  }

  deinit {
    lmdb_destroy(pointer)
    for file in ["data.mdb", "lock.mdb"] { unlink("\(directory)/\(file)") }
    rmdir(directory)
  }
}

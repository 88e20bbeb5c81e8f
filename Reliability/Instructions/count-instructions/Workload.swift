import Glibc
import SharedTable
import TestSupport

/// A loaded table, and the keys in the order in which the operations take them.
@safe final class Workload {
  let table: Table
  private let observer: Table
  private let keys: [Key]
  private let value = [UInt8](repeating: 0x5a, count: Workload.valueBytes)
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Workload.valueBytes, alignment: 16)

  private static let keyCount = 10_000
  private static let valueBytes = 64

  init(variant: Table.Variant, isMirror: Bool = false) throws {
    let name = "count-instructions-\(getpid())"
    var options = Table.Options(variant: variant, capacityBytes: 16 << 20)
    options.hashSeed = 1
    if isMirror { options.features = [.mirror] }
    table = try Table.create(name, options)
    observer = try Table.open(name, access: .observer)
    var random = SplitMix(seed: 42)
    let loaded = (0..<Self.keyCount).map { _ in Key(high: random.next(), low: random.next()) }
    keys = loaded.shuffled(using: &random)
    for start in stride(from: 0, to: Self.keyCount, by: 1000) {
      let value = value
      let load = { (tx: inout Transaction) throws(TableError) in
        for key in loaded[start..<min(start + 1000, Self.keyCount)] { try tx.set(key, value) }
      }
      if isMirror { try table.mirrorBarrier(load) } else { try table.barrier(load) }
    }
  }

  deinit {
    unsafe buffer.deallocate()
    try? Table.drop(table.name)
  }

  func run(_ operation: Operation, times: Int) throws {
    switch operation {
    case .getParticipant, .getRWLock, .getMirrored: try get(from: table, times)
    case .getObserver: try get(from: observer, times)
    case .sectionOfOne: try look(sections: times, each: 1)
    case .sectionOfTen: try look(sections: times, each: 10)
    case .set: for _ in 0..<times / Self.keyCount { for key in keys { try table.set(key, value) } }
    case .setOfHundred: for _ in 0..<times / Self.keyCount { try setInBarriers(each: 100) }
    case .getTyped, .getStruct, .setStruct, .dictionaryGet, .setContains, .cacheHit, .cacheHitExpiring,
      .cacheHitOrCompute, .sharedRead, .onceRead, .guardedRead, .arrayElement, .arrayAppend, .arraySet, .cacheSet,
      .cacheSetNew, .dictionarySet, .dictionaryWalk, .dictionaryEmpty, .arrayWalk, .setWalk, .setInsertAndRemove,
      .dictionarySetAndRemove, .cacheSetAndRemove, .keyedBarrier, .guardedChange:
      try Layers(table).run(operation, times: times)
    case .barrierBurst, .awaitRead, .awaitBarrier, .hostActorCall, .hostRun:
      try Handovers(table).run(operation, times: times)
    case .remove: for index in 0..<times { guard try table.remove(keys[index]) else { throw Failure.missed } }
    }
  }

  private func get(from table: Table, _ times: Int) throws {
    var sum = 0
    try unsafe keys.withUnsafeBytes { keys in
      for _ in 0..<(times / Self.keyCount) {
        for start in stride(from: 0, to: keys.count, by: 16) {
          let key = unsafe UnsafeRawBufferPointer(start: keys.baseAddress! + start, count: 16)
          sum &+= try unsafe table.get(key, into: buffer) ?? 0
        }
      }
    }
    guard sum == times * Self.valueBytes else { throw Failure.missed }
  }

  private func look(sections: Int, each: Int) throws {
    var sum = 0
    var index = 0
    for _ in 0..<sections {
      try table.read { view in
        for _ in 0..<each {
          sum &+= try view.bytes(forKey: keys[index])?.byteCount ?? 0
          index = (index + 1) % keys.count
        }
      }
    }
    guard sum == sections * each * Self.valueBytes else { throw Failure.missed }
  }

  private func setInBarriers(each: Int) throws {
    for start in stride(from: 0, to: keys.count, by: each) {
      try table.barrier { tx in for key in keys[start..<start + each] { try tx.set(key, value) } }
    }
  }
}

enum Failure: Error { case missed }

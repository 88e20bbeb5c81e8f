import Synchronization
import TestSupport
import Testing

@testable import SharedTable
@testable import TableEngine

/// A table that comes back from its store.
@Suite struct LoaderTests {
  /// Who opens it at once and waits for the disk would be told that nobody stores it.
  @Test func aLoadedTableSaysFromItsFirstMomentOnThatItIsStored() throws {
    try withTableName { (name: String) throws -> Void in
      let load = TableLoad(base: 8) { loader throws(EngineError) in
        _ = loader.finish()
        loader.markStored(upTo: 7)
      }
      let segment = try Segment.create(name, SegmentOptions(capacityBytes: 1 << 20), load: load)
      #expect(segment.keeping == .kept)
      #expect(segment.durable == 7)
      #expect(try segment.isDurable(7) && !segment.isDurable(8))
    }
  }

  /// What splits of the index leave is free once they are committed. Where a table has no other room for the next one, a load commits them and
  /// goes on: so it takes what single writes would. The pads have the table be full at different moments.
  @Test(arguments: [6, 8, 10, 12, 14]) func aLoadTakesAsMuchAsSingleWritesDo(_ padCount: Int) throws {
    var options = SegmentOptions(capacityBytes: 1 << 20)
    options.hashSeed = 1
    let forge = KeyForge(seed: 1)
    // Eight sub-tables, and later sixteen, have the same to hold, and split one after the other.
    func key(_ number: Int) -> [UInt8] {
      let (part, place) = (UInt64(number % 8), UInt64(number / 8))
      return forge.key(hash: part << 61 | (place &* 0x9e37_79b9_7f4a_7c15) >> 3)
    }
    func pad(_ number: Int) -> [UInt8] { Array("pad \(number)".utf8) }
    let padding = [UInt8](repeating: 1, count: 15 << 10)

    let loaded = Mutex(0)
    let load = TableLoad(base: 8) { loader throws(EngineError) in
      for number in 0..<padCount { try Self.put(pad(number), padding, loader) }
      do throws(EngineError) {
        while true {
          try Self.put(key(loaded.withLock { $0 }), [], loader)
          loaded.withLock { $0 += 1 }
        }
      } catch .full {}
      _ = loader.finish()
    }
    try withTableName { (name: String) throws -> Void in _ = try Segment.create(name, options, load: load) }

    var stored = 0
    try withTableName { (name: String) throws -> Void in
      let table = try Table.create(name, options)
      for number in 0..<padCount { try table.set(pad(number), padding) }
      while (try? table.set(key(stored), [UInt8]())) != nil { stored += 1 }
    }
    #expect(stored > 5_000 && loaded.withLock { $0 } >= stored)
  }

  private static func put(_ key: [UInt8], _ value: [UInt8], _ loader: Loader) throws(EngineError) {
    let result = key.withUnsafeBytes { key in
      value.withUnsafeBytes { value in
        Result { () throws(EngineError) in try loader.putIfAbsent(key, value, ValueAttributes(), version: 7) }
      }
    }
    try result.get()
  }
}

import TestSupport
import Testing

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
}

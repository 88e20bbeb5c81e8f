import Glibc
import SharedMemory
import TestSupport
import Testing

@testable import TableEngine

/// What goes by a table's names alone must not meet another table that got them meanwhile.
@Suite struct NamedObjectTests {
  @Test func anObjectThatCameAfterTheLookKeepsItsName() throws {
    try withTableName { (name: String) throws -> Void in
      _ = try Segment.create(name, SegmentOptions(capacityBytes: 1 << 20))
      let seen = NamedObject.all(ofTable: name)
      #expect(seen.map(\.name) == ["shmtable.\(name).data", "shmtable.\(name).ctl"])
      try Segment.drop(name)
      let anew = try Segment.create(name, SegmentOptions(capacityBytes: 1 << 20))
      for object in seen { #expect(try !object.unlink()) }
      #expect(anew.isNamed)
      for object in NamedObject.all(ofTable: name) { #expect(try object.unlink()) }
      for object in seen { #expect(try !object.unlink()) }
      #expect(!anew.isNamed)
    }
  }

  /// Who drops a table does not wait for ever for one who makes it, and then it may be made by another.
  @Test func aCreatorThatWasOvertakenLeavesTheOthersTableAlone() throws {
    try withTableName { (name: String) throws -> Void in
      let options = SegmentOptions(capacityBytes: 1 << 20)
      var other: Segment?
      let load = TableLoad(base: 1) { _ throws(EngineError) in
        try Segment.drop(name)
        other = try Segment.create(name, options)
      }
      #expect(throws: EngineError.self) { _ = try Segment.create(name, options, load: load) }
      let anew = try #require(other)
      #expect(anew.isNamed)
      try Segment.drop(name)
      #expect(!anew.isNamed)
    }
  }

  @Test func theOwnersThatNeedNotBeNamed() {
    let me = geteuid()
    for use in [TrustedOwners.Use.takingPart, .observing, .dropping] {
      #expect(([] as TrustedOwners).include(0, for: use) && ([] as TrustedOwners).include(me, for: use))
      #expect(!([] as TrustedOwners).include(65_533, for: use))
      #expect(([65_533] as TrustedOwners).include(65_533, for: use))
      #expect(TrustedOwners.everyone.include(65_533, for: use) == (use != .takingPart))
    }
    #expect(([1] as TrustedOwners).adding(2) == [1, 2] && ([1] as TrustedOwners).adding(nil) == [1])
  }
}

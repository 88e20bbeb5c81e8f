import Glibc
import TestSupport
import Testing

@testable import TableEngine

/// A table that takes long to be made.
@Suite struct MakingTests {
  /// A watchdog waits for less than it takes to claim tens of GB.
  @Test func whoClaimsAllAtOnceIsAskedAfterEachMiB() throws {
    try withTableName { name in
      var count = 0
      let options = SegmentOptions(capacityBytes: 32 << 20, preallocate: true)
      let segment = try Segment.create(name, options) {
        count += 1
        return true
      }
      #expect(count >= 31, "\(count)")
      #expect(segment.geometry.capacityBytes == 32 << 20)
    }
  }

  @Test func aMakingThatIsEndedLeavesNothing() throws {
    try withTableName { name in
      let options = SegmentOptions(capacityBytes: 32 << 20, preallocate: true)
      var count = 0
      let error = #expect(throws: EngineError.self) {
        _ = try Segment.create(name, options) {
          count += 1
          return count < 5
        }
      }
      guard case .system(let cause)? = error, cause.errno == ECANCELED else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(count == 5)
      for part in ["ctl", "data"] { #expect(access("/dev/shm/shmtable.\(name).\(part)", F_OK) != 0) }
      _ = try Segment.create(name, SegmentOptions(capacityBytes: 1 << 20))
    }
  }
}

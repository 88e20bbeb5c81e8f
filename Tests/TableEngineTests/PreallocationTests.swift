import Glibc
import TestSupport
import Testing

@testable import TableEngine

/// Tables that claim the pages of all values when they are made.
@Suite struct PreallocationTests {
  /// Else a table for which a little is missing claims all that is free, and gives it back.
  @Test(arguments: [1, 5, 20, 64]) func whatATableClaimsAtOnceIsKnownBefore(_ mebibytes: Int) throws {
    try withTableName { name in
      let options = SegmentOptions(capacityBytes: mebibytes << 20, preallocate: true, hugePages: false)
      let segment = try Segment.create(name, options)
      var claimed = 0
      for part in ["ctl", "data"] {
        var status = stat()
        try #require(stat("/dev/shm/shmtable.\(name).\(part)", &status) == 0)
        claimed += Int(status.st_blocks) * 512
      }
      let expected = segment.geometry.preallocatedBytes
      #expect(claimed <= expected && claimed > expected - 256 << 10, "\(claimed) of \(expected)")
    }
  }
}

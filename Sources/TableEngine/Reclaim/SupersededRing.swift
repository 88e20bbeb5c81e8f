import CShims

/// *superseded*: old versions in the order in which they were superseded, each named once, by the transaction that superseded
/// it. A tombstone is named by its own transaction. A record is `struct shm_superseded_record` in `shm_format.h`.
enum SupersededRing {
  static let block = shm_superseded_record_block_offset
  static let stamp = shm_superseded_record_stamp_offset
  static let newer = shm_superseded_record_newer_offset
  static let recordBytes = shm_superseded_record_size

  private static let tombstoneBit = UInt64(SHM_RING_TOMBSTONE)

  @inline(__always)
  static func isTombstone(_ newer: UInt64) -> Bool { newer & tombstoneBit != 0 }

  /// `stamp` of a tombstone that is not settled: above every version, so that no pass takes its block.
  static let unsettled: UInt64 = 1 << UInt64(SHM_RING_UNSETTLED_BIT)
}

extension WriterState {
  /// The version of the transaction that made a record of *superseded*.
  func versionNamed(by counter: UInt64) -> UInt64 {
    let stamp = superseded.stamp(counter)
    guard stamp == SupersededRing.unsettled else { return stamp }
    return data.loadRelaxed(superseded.block(counter).offset + Entry.version)
  }
}

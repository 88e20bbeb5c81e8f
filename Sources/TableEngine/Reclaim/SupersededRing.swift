import CShims

/// *superseded*: old versions in the order in which they were superseded, each named once, by the transaction that superseded
/// it. A tombstone is named by its own transaction. A record is `struct shm_superseded_record` in `shm_format.h`.
enum SupersededRing {
  static let block = shm_superseded_record_block_offset
  static let stamp = shm_superseded_record_stamp_offset
  static let newer = shm_superseded_record_newer_offset
  static let recordBytes = shm_superseded_record_size
}

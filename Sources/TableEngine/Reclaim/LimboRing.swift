import CShims

/// Limbo: unlinked blocks in the order of their stamps. A record is `struct shm_limbo_record` in `shm_format.h`.
enum LimboRing {
  static let block = shm_limbo_record_block_offset
  static let stamp = shm_limbo_record_stamp_offset
  static let recordBytes = shm_limbo_record_size
}

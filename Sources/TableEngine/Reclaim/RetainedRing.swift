import CShims

/// *retained*: old versions that a snapshot needed when they were looked at. A record is `struct shm_retained_record` in
/// `shm_format.h`.
package enum RetainedRing {
  static let entry = shm_retained_record_entry_offset
  static let stamp = shm_retained_record_stamp_offset
  package static let recordBytes = shm_retained_record_size
}

import CShims

/// Byte offsets in a unit's descriptor (*ctl*): `struct shm_unit` in `shm_format.h`.
package enum UnitLayout {
  static let frameFree = shm_unit_frame_free_offset
  static let runStart = shm_unit_run_start_offset
  /// Words of 64 frames' bits in each of the two.
  static let frameWords = SHM_FRAMES_PER_UNIT / 64
  static let kind = shm_unit_kind_offset
  static let partial = shm_unit_partial_offset
  static let used = shm_unit_used_offset
  static let usedBytesPerSlab = (shm_unit_size - shm_unit_used_offset) / SHM_SUPERFRAMES_PER_UNIT
  package static let byteCount = shm_unit_size
}

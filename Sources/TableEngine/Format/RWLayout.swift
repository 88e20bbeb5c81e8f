import CShims

/// Where the rwlock variant's state lies in *ctl*: `struct shm_rw_area` in `shm_format.h`.
package enum RWLayout {
  private static let area = shm_ctl_rw_offset
  static let generation = ControlLayout.rwState
  package static let writerWaiting = area + shm_rw_area_writer_waiting_offset
  package static let hint = area + shm_rw_area_hint_offset
  static let abandoned = area + shm_rw_area_abandoned_offset
  static let drained = area + shm_rw_area_drained_offset
  static let sleepers = area + shm_rw_area_sleepers_offset
  static let event = area + shm_rw_area_event_offset
}

import CShims

/// Byte offsets in a slot: `struct shm_slot` in `shm_format.h`, which says who stores to what.
public enum SlotLayout {
  /// Idle, or a version that is pending, exact, or evicted: see ``SlotWord``.
  public static let snapshot = shm_slot_snapshot_offset
  public static let pin = shm_slot_pin_offset
  public static let rw = shm_slot_rw_offset
  public static let wait = shm_slot_wait_offset
  public static let mutex = shm_slot_mutex_offset
  public static let pid = shm_slot_pid_offset
  public static let tid = shm_slot_tid_offset
  public static let command = shm_slot_command_offset
  public static let purpose = shm_slot_purpose_offset
  public static let since = shm_slot_since_offset
  public static let light = shm_slot_light_offset
  public static let inTheWayVersion = shm_slot_in_the_way_version_offset
  public static let inTheWaySince = shm_slot_in_the_way_since_offset
  /// 0, or stamp and state of a key lock: see ``KeyLocks``.
  public static let keyLock = shm_slot_key_lock_offset
  /// The key lock's keys: see ``LockedKeys``.
  static let keyLockCounts = shm_slot_key_lock_counts_offset
  static let keyLockHashes = shm_slot_key_lock_hashes_offset
}

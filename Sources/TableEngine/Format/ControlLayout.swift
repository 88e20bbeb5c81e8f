import CShims

/// Byte offsets in the fixed part of the control object: `struct shm_ctl` in `shm_format.h`, which says who stores to what.
public enum ControlLayout {
  // What both objects begin with is in DataLayout; these are shm_ctl_header's own.
  public static let magic = DataLayout.magic
  public static let ready = shm_ctl_header_ready_offset
  public static let fingerprint = shm_ctl_header_fingerprint_offset
  public static let pidNamespace = shm_ctl_header_pid_namespace_offset
  public static let damaged = shm_ctl_header_damaged_offset
  public static let lightReaders = shm_ctl_header_light_readers_offset
  public static let limboBudget = shm_ctl_header_limbo_budget_offset
  public static let stalledReaderPolicy = shm_ctl_header_stalled_reader_policy_offset
  public static let keepsMemory = shm_ctl_header_keeps_memory_offset
  public static let creatorPid = shm_ctl_header_creator_pid_offset
  public static let createdNanoseconds = shm_ctl_header_created_nanoseconds_offset
  public static let dropped = shm_ctl_header_dropped_offset
  public static let poisonsFreedBlocks = shm_ctl_header_poisons_freed_blocks_offset
  public static let wantsHugePages = shm_ctl_header_wants_huge_pages_offset
  public static let hugeBytes = shm_ctl_header_huge_bytes_offset

  private static let writer = shm_ctl_writer_offset
  public static let writerMutex = writer + shm_writer_area_mutex_offset
  public static let writerSlot = writer + shm_writer_area_writer_slot_offset
  public static let writerSince = writer + shm_writer_area_writer_since_offset
  public static let barriersUnwaited = writer + shm_writer_area_barriers_unwaited_offset
  public static let turns = writer + shm_writer_area_turns_offset
  public static let foremostWaiter = writer + shm_writer_area_foremost_waiter_offset
  public static let mostTurnsWaited = writer + shm_writer_area_most_turns_waited_offset
  public static let journal = writer + shm_writer_area_journal_offset
  public static let limbo = writer + shm_writer_area_limbo_offset
  public static let superseded = writer + shm_writer_area_superseded_offset
  public static let retained = writer + shm_writer_area_retained_offset
  public static let units = writer + shm_writer_area_units_offset
  public static let retainedSignature = writer + shm_writer_area_retained_signature_offset
  public static let chainsCutAt = writer + shm_writer_area_chains_cut_at_offset
  public static let recoveryCount = writer + shm_writer_area_recovery_count_offset
  public static let journalAllocated = writer + shm_writer_area_journal_allocated_offset
  public static let slotsHighWater = writer + shm_writer_area_slots_high_water_offset
  public static let garbageBytes = writer + shm_writer_area_garbage_bytes_offset
  public static let retainedRescanEnd = writer + shm_writer_area_retained_rescan_end_offset
  public static let roomWanted = writer + shm_writer_area_room_wanted_offset
  public static let recyclableUpTo = writer + shm_writer_area_recyclable_up_to_offset
  public static let keyLocks = writer + shm_writer_area_key_locks_offset
  public static let keyLockStamp = writer + shm_writer_area_key_lock_stamp_offset
  public static let keyLockEvent = writer + shm_writer_area_key_lock_event_offset
  public static let keyLockSleepers = writer + shm_writer_area_key_lock_sleepers_offset
  public static let evictionCount = writer + shm_writer_area_eviction_count_offset
  static let triedSuperseded = writer + shm_writer_area_tried_superseded_offset
  static let triedGarbageBytes = writer + shm_writer_area_tried_garbage_bytes_offset
  static let unfinished = writer + shm_writer_area_unfinished_offset
  public static let awaitedVersion = writer + shm_writer_area_awaited_version_offset
  public static let barrierWaits = writer + shm_writer_area_barrier_waits_offset
  public static let barrierWaitBuckets = SHM_BARRIER_WAITS
  static let labelVersion = writer + shm_writer_area_label_version_offset
  static let labelHash = writer + shm_writer_area_label_hash_offset
  static let labelByteCount = writer + shm_writer_area_label_byte_count_offset
  static let labelWords = writer + shm_writer_area_label_words_offset

  public static let rwlocks = shm_ctl_rw_offset + shm_rw_area_instances_offset
  public static let rwlockInstances = SHM_RW_INSTANCES
  public static let rwlockBytes = shm_rw_instance_size
  /// The rest of the rwlock variant's state: ``RWLayout``.
  public static let rwState = shm_ctl_rw_offset + shm_rw_area_generation_offset

  public static let slots = shm_ctl_slots_offset
  public static let slotBytes = shm_slot_size
  public static let slotCount = SHM_SLOTS
}

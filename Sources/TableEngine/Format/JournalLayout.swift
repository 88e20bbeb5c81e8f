import CShims

/// Fields of the journal's header, from ``ControlLayout/journal``: `struct shm_journal_header` in `shm_format.h`.
enum JournalLayout {
  static let version = shm_journal_header_version_offset
  static let count = shm_journal_header_count_offset
  static let limboTail = shm_journal_header_limbo_tail_offset
  static let limboBytes = shm_journal_header_limbo_bytes_offset
  static let supersededTail = shm_journal_header_superseded_tail_offset
  static let supersededHeadAfter = shm_journal_header_superseded_head_after_offset
  static let retainedTail = shm_journal_header_retained_tail_offset
  static let retainedHeadAfter = shm_journal_header_retained_head_after_offset
  static let logEndPosition = shm_journal_header_log_end_position_offset
  static let logEndOrdinal = shm_journal_header_log_end_ordinal_offset
  static let garbageBytes = shm_journal_header_garbage_bytes_offset
  static let recordBytes = shm_journal_record_size
}

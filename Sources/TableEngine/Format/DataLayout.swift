import CShims

/// Byte offsets in the data object's header: `struct shm_data_header` in `shm_format.h`, which says who stores to what.
public enum DataLayout {
  public static let magic = shm_identity_magic_offset
  public static let versionAndVariant = shm_identity_version_and_variant_offset
  public static let layoutHash = shm_identity_layout_hash_offset
  public static let uuid = shm_identity_uuid_offset
  public static let capacity = shm_identity_capacity_offset
  public static let hashSeed = shm_data_header_hash_seed_offset
  public static let features = shm_data_header_features_offset
  public static let committed = shm_data_header_committed_offset
  public static let reclaimed = shm_data_header_reclaimed_offset
  public static let wseq = shm_data_header_wseq_offset
  public static let publishedBytes = shm_data_header_published_bytes_offset
  public static let logEndPosition = shm_data_header_log_end_position_offset
  public static let logEndOrdinal = shm_data_header_log_end_ordinal_offset
  public static let logTailPosition = shm_data_header_log_tail_position_offset
  public static let durable = shm_data_header_durable_offset
  public static let keeping = shm_data_header_keeping_offset
  public static let keyCounts = shm_data_header_key_counts_offset
  public static let keyCountSlots = SHM_KEY_COUNTS
  public static let root = shm_data_header_root_offset
  public static let rootBits = SHM_ROOT_BITS
  public static let lostPrefixes = shm_data_header_lost_prefixes_offset
  public static let lostPrefixLengths = SHM_LOST_PREFIX_LENGTHS
  public static let lostPrefixHashBits = SHM_LOST_PREFIX_HASH_BITS
  /// Where the change log begins.
  public static let log = shm_data_header_size

  public static let magicValue = UInt64(SHM_MAGIC)
  public static let version = UInt32(SHM_LAYOUT_VERSION)

  /// Which word of the root covers a hash: the hash's first bits say so.
  @inlinable @inline(__always)
  static func rootIndex(ofHash hash: UInt64) -> Int { Int(hash >> UInt64(64 &- rootBits)) }

  /// Where a word of the root lies.
  @inlinable @inline(__always)
  public static func rootWord(_ index: Int) -> Int { root &+ index &* 8 }
  @inlinable @inline(__always)
  static func rootWord(ofHash hash: UInt64) -> Int { rootWord(rootIndex(ofHash: hash)) }
}

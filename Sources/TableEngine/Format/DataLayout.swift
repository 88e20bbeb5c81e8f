/// Byte offsets in the data object's header page. Readers map this object read-only.
///
/// ```
///    0 magic      8 layoutVersion|variant   16 layoutHash   24 uuid (16)   40 capacityBytes   48 hashSeed
///   56 features   64 committed*             128 reclaimed*  192 wseq*      256 publishedBytes*
///  320 log: end position, end ordinal, tail position*
///  512 keyCounts (64 words)*               4096 root directory (1,024 words)*      16384 change log, then units
/// ```
/// `*` = changes while the table lives, each line by the owner of the writer lock alone; the rest is written
/// once, before the ready flag. What a crash leaves: `committed` is the commit itself; `reclaimed` and
/// `publishedBytes` only grow, and a value ahead of the work it announces is harmless; `wseq` odd tells the next
/// owner to recover; the log's end is restored from the journal.
public enum DataLayout {
  public static let magic = 0
  public static let versionAndVariant = 8
  public static let layoutHash = 16
  public static let uuid = 24
  public static let capacity = 40
  public static let hashSeed = 48
  public static let features = 56
  /// The newest committed version. Alone on its line: every reader loads it, nothing else may invalidate it.
  public static let committed = 64
  /// No snapshot below this is safe for an observer: gc raises it before its first unlink.
  public static let reclaimed = 128
  /// Odd while a transaction is in flight: the seqlock of the rwlock variant's observers, and recovery's hint.
  public static let wseq = 192
  /// Bytes of the object that are allocated and may be read.
  public static let publishedBytes = 256
  public static let logEndPosition = 320
  public static let logEndOrdinal = 328
  public static let logTailPosition = 336
  /// Number of keys at version v in word v % 64, stored before v is committed.
  public static let keyCounts = 512
  public static let keyCountSlots = 64
  public static let root = 4096
  public static let rootBits = 10
  public static let log = 16384

  public static let magicValue: UInt64 = 0x656c_6261_546d_6853  // "ShmTable"
  /// Raised by every change of layout or protocol that a peer of the previous version would misread.
  public static let version: UInt32 = 1
}

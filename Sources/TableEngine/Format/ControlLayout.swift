/// Byte offsets in the control object, which only participants map.
///
/// ```
///     0 header (written once but for ready, damaged)       4096 writer area (under W, but for W itself)
///  8192 rwlock instances and their state                  12288 slots       then summaries, descriptors, journal, rings
/// ```
public enum ControlLayout {
  // header
  public static let magic = 0
  public static let versionAndVariant = 8
  public static let layoutHash = 16
  public static let uuid = 24
  public static let capacity = 40
  /// 1 once both objects are whole. Stored last by the creator, under flock.
  public static let ready = 48
  /// libc, machine and sizeof(pthread_mutex_t): a peer with another layout of these must not touch the locks.
  public static let fingerprint = 56
  public static let pidNamespace = 64
  /// 1 after damage that could not be repaired; every later barrier is refused. Sticky.
  public static let damaged = 72
  /// 1 once any process attached whose readers rely on membarrier: then gc needs membarrier too.
  public static let lightReaders = 80
  public static let limboBudget = 88
  public static let stalledReaderPolicy = 96
  public static let creatorPid = 112
  public static let createdNanoseconds = 120
  /// 1 once the table's names were removed in good order.
  public static let dropped = 128
  /// 1 if free passes overwrite what they free: a use after free is seen at once. For tests; see "Poison" in DESIGN.md.
  public static let poisonsFreedBlocks = 136

  // writer area
  public static let writerMutex = 4096
  /// 1 + slot of the owner, for people; 0 when free. Stale after a crash until the next owner.
  public static let writerSlot = 4160
  public static let writerSince = 4168
  /// How often W was free at once. Beside what its owner stores anyway.
  public static let barriersUnwaited = 4176
  public static let journal = 4224
  public static let limbo = 4352
  public static let superseded = 4416
  public static let retained = 4480
  public static let units = 4544
  /// Signature of the exact snapshots at the last rescan of *retained*.
  public static let retainedSignature = 4552
  /// `prev` of an entry of this version or an older one leads nowhere: what it named may have been freed. Only grows.
  public static let chainsCutAt = 4560
  public static let recoveryCount = 4568
  public static let journalAllocated = 4576
  public static let slotsHighWater = 4584
  /// *retained* is to be looked at again up to this counter.
  public static let retainedRescanEnd = 4600
  /// 1 + the size code of a block that an operation found no room for: the next barrier begins by making room.
  public static let roomWanted = 4608
  /// 1 if any slot may hold or wait with a claim: see ``Claims``. These four lie on a line that every barrier loads.
  public static let claims = 4616
  /// Of the youngest claim.
  public static let claimStamp = 4624
  public static let claimEvent = 4632
  /// 1 if somebody may sleep on the event.
  public static let claimSleepers = 4640
  /// Bytes of entries in *superseded* and *retained*, with those that were freed in place (`bytesPopped` of *superseded*).
  public static let garbageBytes = 4592
  /// Somebody waits for this version: see ``CommitSignal``. Alone on its line: every commit loads it, and few store it.
  public static let awaitedVersion = 4672
  /// How often W was waited for between 2^i and 2^(i+1) nanoseconds, in word i; the last one's are longer, too.
  public static let barrierWaits = 4736
  public static let barrierWaitBuckets = 40
  /// The version whose barrier a queue runs, the label's hash, its length and its bytes: see ``BarrierLabel``.
  static let barrierLabel = 5056

  public static let rwlocks = 8192
  public static let rwlockInstances = 8
  public static let rwlockBytes = 128
  public static let rwState = rwlocks + rwlockInstances * rwlockBytes

  public static let slots = 12288
  public static let slotBytes = 512
  public static let slotCount = 1024
}

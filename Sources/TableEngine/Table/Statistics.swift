/// A look at a table from outside, for people and metrics. Figures are read one by one while the table lives on:
/// each is true at its moment, all together at none.
public struct Statistics: Sendable {
  /// A thread that holds a slot, or a snapshot or a process that does.
  public struct Reader: Sendable {
    /// Whose the slot is.
    public let holder: Holder
    /// Version it reads at; nil while idle.
    public let version: UInt64?
    /// A snapshot that outlives sections.
    public let isLongSnapshot: Bool
    /// It was ended for what it kept: what still reads it gets `snapshotTooOld`.
    public let isEvicted: Bool
    /// For how long at least it has kept old versions, in nanoseconds; nil if no reclaiming process has found it to.
    public let inTheWayNanoseconds: UInt64?
    /// Whether it has been in the way for longer than writers are patient with: 200 ms.
    public var isStalled: Bool { (inTheWayNanoseconds ?? 0) >= StalledReaderPolicy.patienceNanoseconds }
    /// Runs a barrier of some keys.
    public let holdsKeyLocks: Bool
    /// Bytes that it keeps from being reused. What several keep is counted with the one that reads the oldest version. 0 where
    /// the calling thread cannot read: in a barrier, and where no slot is left for it.
    public let keptBytes: Int
    /// What the slot is for.
    public let purpose: Purpose
    /// What it waits for, as far as shared memory tells: of those who wait for the barrier before them only the foremost.
    public let wait: Wait?

    /// What a slot is for.
    public enum Purpose: Sendable { case thread, snapshot, presence }
    /// What a thread may wait for.
    public enum Wait: Sendable { case barrier, keys, reading }
  }

  /// How long barriers waited for the one before them. Those that waited in vain are not counted.
  public struct BarrierWaits: Sendable, Equatable {
    /// Found nobody in their way.
    public var none: UInt64 = 0
    /// Waited at least 2^i nanoseconds and less than 2^(i+1), at index i; at the last one also longer.
    public var byLogarithm: [UInt64] = []
    /// The most turns of others that one of them waited for.
    public var mostTurns: UInt64 = 0
  }

  /// The number that names the table in the USDT probes' first argument.
  public var probeID: UInt64 = 0
  /// Number of the newest committed version.
  public var version: UInt64 = 0
  /// Versions since the table was made or came back from its store. `version` leaps there, this begins anew, as counters of metrics do.
  public var commitCount: UInt64 { VersionEpoch.count(of: version) }
  /// Keys as of that version, expired ones that nobody removed yet included.
  public var keyCount = 0
  /// The most that the table may grow to.
  public var capacityBytes = 0
  /// Bytes claimed from /dev/shm for the data object so far.
  public var claimedBytes = 0
  /// Of `claimedBytes`, those that were backed by huge pages when the table last grew. Participants only.
  public var hugeBytes: Int?
  /// Bytes of blocks and frames in use, of `claimedBytes`. Participants only.
  public var usedBytes: Int? { memory?.used }
  /// What the memory is used for. Participants only.
  public var memory: MemoryUse?
  /// Bytes that are kept from being reused, by readers or until the next reclaiming pass. Participants only.
  public var limboBytes: Int?
  /// How many of these bytes there may be before the policy for stalled readers applies. Participants only.
  public var limboBudgetBytes: Int?
  /// How often a dead writer's work was undone or finished since the table was made. Participants only.
  public var recoveries: UInt64?
  /// Snapshots that were ended for what they kept. Participants only.
  public var evictions: UInt64?
  /// A writer died in a barrier: the next one undoes or finishes its work first. Participants only; false for observers, and for a table that is
  /// marked as damaged, where no writer does.
  public var needsRecovery = false
  /// How long barriers waited since the table was made. Participants only.
  public var barrierWaits: BarrierWaits?
  /// The table is marked as damaged. Participants only; false for observers.
  public var isDamaged = false
  /// Who runs a barrier just now. Participants only.
  public var writer: Holder?
  /// Threads that hold a slot. Participants only.
  public var readers: [Reader] = []
  /// Processes that observe, each handle counted; nil where the system does not tell.
  public var observers: Int?

  public init() {}
}

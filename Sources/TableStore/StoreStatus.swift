import SharedMemory
public import SharedTable

/// Where the keeping of a store stands.
public struct StoreStatus: Sendable {
  /// What is on the disk, and what the table is at.
  public var durable: UInt64 = 0
  public var version: UInt64 = 0
  /// Since when there has been something that is not on the disk, by CLOCK_MONOTONIC; nil: there is nothing.
  var waitingSince: UInt64?
  /// Since when the keeper has been at a slice of work for whose end no commit waits, by CLOCK_MONOTONIC. Until the slice has ended, the keeper does
  /// not see what writers commit.
  var busySince: UInt64?
  /// For how long there may be, by the table's mode.
  var interval: Duration = .zero
  /// Why nothing can be stored just now.
  public var error: StoreError?

  public init() {}

  /// Of a table that has no keeper.
  /// - Parameter since: since when it should have one, by CLOCK_MONOTONIC.
  public init(unkept table: Table, _ mode: StoreMode, _ error: StoreError, since: UInt64) {
    (durable, version) = (table.durableVersion, table.version)
    (interval, self.error) = (mode.interval, error)
    if version > durable { waitingSince = since }
  }

  /// Why a table that has lost its name cannot come back from its store yet: the table may have what the store lacks, and cannot be stored.
  public var obstacleToRestoring: StoreError? {
    switch error?.code {
    // Nothing of this table was ever in the store.
    case .otherTable: nil
    // Another process has its store, and brings it back from there.
    case .inUse: error
    // What is in memory is not whole, and the store is what is left.
    case .table where error?.tableError?.code == .damaged: nil
    // Also where all of it was on the disk: the file that held it may be gone since, or its sync have failed.
    default: error
    }
  }

  /// For how long there has been something that is not on the disk: as of now, also while the disk does not answer. Of what was
  /// committed while the keeper did other work nobody knows when: then this is since that work began, which may be too long.
  public var lag: Duration { Self.time(since: waitingSince ?? (version > durable ? busySince : nil)) }

  /// For how long the keeper has been at such a slice of work. It is short, unless the disk does not answer.
  public var busy: Duration { Self.time(since: busySince) }

  private static func time(since start: UInt64?) -> Duration {
    .nanoseconds(start.map { Int64(clamping: HostClock.monotonicNanoseconds &- $0) } ?? 0)
  }

  /// By how much that is longer than the table's mode has it.
  public var overdue: Duration { max(.zero, lag - interval) }
}

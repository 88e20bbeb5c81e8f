import SharedMemory

/// Where the keeping of a store stands.
public struct StoreStatus: Sendable {
  /// What is on the disk, and what the table is at.
  public var durable: UInt64 = 0
  public var version: UInt64 = 0
  /// Since when there has been something that is not on the disk, by CLOCK_MONOTONIC; nil: there is nothing.
  var waitingSince: UInt64?
  /// For how long there may be, by the table's mode.
  var interval: Duration = .zero
  /// Why nothing can be stored just now.
  public var error: StoreError?

  public init() {}

  /// For how long there has been something that is not on the disk: as of now, also while the disk does not answer.
  public var lag: Duration {
    .nanoseconds(waitingSince.map { Int64(clamping: HostClock.monotonicNanoseconds &- $0) } ?? 0)
  }

  /// By how much that is longer than the table's mode has it.
  public var overdue: Duration { max(.zero, lag - interval) }
}

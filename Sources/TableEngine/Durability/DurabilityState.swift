/// What becomes of versions above ``Segment/durable``: whether a store follows the table, and can. `SHM_KEEPING_...` of the format.
public enum DurabilityState: UInt64, Sendable, CaseIterable {
  /// Nobody keeps a store of the table: nobody ever did, or the daemon was told to do so no more.
  case none = 0
  /// A store follows the table, or did so when its keeper ended.
  case kept = 1
  /// The table is to be stored and cannot be: its keeper says so, or the daemon that could start none. What is in the table is in memory alone.
  case failed = 2
  /// Nothing is stored, and nothing in the store's file is trusted: a sync of it failed, and what the system has of it in memory may never get to
  /// the disk; or it was found damaged. Stays until a new file is written, also after its keeper has ended.
  case broken = 3
}

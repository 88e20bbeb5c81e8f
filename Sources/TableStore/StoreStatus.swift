/// Where the keeping of a store stands.
public struct StoreStatus: Sendable {
  /// What is on the disk, and what the table is at.
  public var durable: UInt64 = 0
  public var version: UInt64 = 0
  /// For how long there has been something that is not on the disk.
  public var lag: Duration = .zero
  /// Why nothing can be stored just now.
  public var error: StoreError?

  public init() {}
}

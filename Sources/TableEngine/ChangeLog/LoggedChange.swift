/// One change as the log has it.
public struct LoggedChange: Sendable, Equatable {
  public let isRemoval: Bool
  /// Of the barrier that made it.
  public let version: UInt64
  public let key: [UInt8]
}

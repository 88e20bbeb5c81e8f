/// What became of one key in one revision.
public struct SourceEvent: Sendable, Equatable {
  /// Whole, with the prefix.
  public var key: [UInt8]
  /// Nil: it was removed.
  public var value: [UInt8]?
  public var revision: Int64
  /// The one that the key has now; 0: none.
  public var lease: Int64

  public init(key: [UInt8], value: [UInt8]?, revision: Int64, lease: Int64 = 0) {
    self.key = key
    self.value = value
    self.revision = revision
    self.lease = lease
  }
}

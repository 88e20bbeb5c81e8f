/// One answer on the stream of events.
public struct WatchAnswer: Sendable {
  /// Where the process that sent it was: ahead of the events, and with some releases of etcd also of events that are still to come.
  public var position: SourcePosition
  public var events: [SourceEvent]
  /// The rest follows in another answer.
  public var isFragment = false

  public init(position: SourcePosition, events: [SourceEvent] = [], isFragment: Bool = false) {
    self.position = position
    self.events = events
    self.isFragment = isFragment
  }
}

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

/// All that one revision changed below the prefix.
public struct SourceRevision: Sendable, Equatable {
  public let number: Int64
  public var events: [SourceEvent]
}

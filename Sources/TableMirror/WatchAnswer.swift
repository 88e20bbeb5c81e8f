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
